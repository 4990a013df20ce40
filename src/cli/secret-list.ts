import { type Context, exitCodes } from "./context.js";
import { openSecrets } from "./secrets.js";

/** `secret list`: the names in the file and the store; the environment's are not listed. */
export async function run(context: Context): Promise<number> {
	const names = (await openSecrets(context)).names();
	context.print({ names }, names.length === 0 ? "no secrets" : names.join("\n"));
	return exitCodes.ok;
}
