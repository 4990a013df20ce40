import { matchFiles } from "../capability/index.js";
import { type Context, exitCodes } from "./context.js";

/** `match RUNTIME MANIFEST` (rule C7): 0 on a match, 1 otherwise, one line a failing rule on stdout. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
	const [runtime = "", manifest = ""] = args;
	const result = await matchFiles(runtime, manifest);
	const text = result.failures.map((failure) => `${failure.rule}: ${failure.message}`).join("\n");
	context.print(result, text);
	if (result.match) context.tell("match");
	return result.match ? exitCodes.ok : exitCodes.refused;
}
