import { type Context, exitCodes } from "./context.js";
import { openSecrets } from "./secrets.js";

/** `secret remove NAME`: forgets a value kept in the store. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
	const [name = ""] = args;
	const removed = (await openSecrets(context)).remove(name);
	context.print({ name, removed }, removed ? `removed ${name}` : `${name} is not in the store`);
	return removed ? exitCodes.ok : exitCodes.refused;
}
