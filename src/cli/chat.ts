import { createInterface } from "node:readline";
import { reportOf } from "../errors.js";
import type { TurnResult } from "../runtime/index.js";
import { approverFor } from "./approver.js";
import { type Context, describeError, exitCodeOf, exitCodes } from "./context.js";
import { printTurn, turnExitCode, turnValue } from "./run.js";
import { type TurnWatch, watchTurn } from "./watch-turn.js";
import { interruptSignal, withRuntime } from "./with-runtime.js";

/**
 * `chat AGENT`: a line in, a reply out, in one session. An empty line is skipped; the end of the input ends it, and so
 * does a refusal. With `--json` the turns are printed then, as one value. The exit code is the worst of any turn's.
 */
export async function run(
	context: Context,
	args: readonly string[],
	options: Record<string, unknown>,
): Promise<number> {
	const [reference = "assistant"] = args;
	const approver = approverFor(context, options);
	return withRuntime(context, async (runtime) => {
		let session = typeof options.session === "string" ? options.session : undefined;
		let code: number = exitCodes.ok;
		const turns: object[] = [];
		const took = (result: TurnResult, watch: TurnWatch): void => {
			code = Math.max(code, turnExitCode(result));
			if (result.kind !== "refused") session = result.session;
			if (context.json) turns.push(turnValue(result));
			else printTurn(context, result, watch);
		};
		const broke = (error: unknown): void => {
			code = Math.max(code, exitCodeOf(error));
			if (context.json) turns.push({ error: reportOf(error) });
			else context.tell(describeError(reportOf(error)));
		};
		for await (const message of inputLines(context)) {
			if (message.trim() === "") continue;
			const { signal, done } = interruptSignal(context, ["SIGINT"]);
			const watch = watchTurn(context);
			try {
				const result = await runtime.runTurn(reference, message, {
					signal,
					...(session === undefined ? {} : { session }),
					...(approver === undefined ? {} : { approver }),
					...watch.options,
				});
				took(result, watch);
				if (result.kind === "refused") break;
			} catch (error) {
				// no turn came of it: a session that is not this agent's, or a fault of the host. The next line would meet it too
				broke(error);
				break;
			} finally {
				done();
			}
		}
		if (context.json) context.print({ turns }, "");
		return code;
	});
}

/** Lines of standard input, with a prompt on a terminal. The reader is closed between lines, so that approvals can read too. */
async function* inputLines(context: Context): AsyncGenerator<string> {
	if (process.stdin.isTTY !== true) {
		yield* createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
		return;
	}
	context.tell("Ctrl-C stops a turn, Ctrl-D ends the conversation.");
	for (;;) {
		const line = await new Promise<string | undefined>((resolve) => {
			const reader = createInterface({ input: process.stdin, output: process.stderr });
			reader.once("close", () => resolve(undefined));
			reader.question("> ", (said) => {
				resolve(said);
				reader.close();
			});
		});
		if (line === undefined) return;
		yield line;
	}
}
