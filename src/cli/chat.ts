import { createInterface } from "node:readline";
import { approverFor } from "./approver.js";
import { type Context, exitCodes, printError } from "./context.js";
import { printResult, tellEvent } from "./run.js";
import { withRuntime } from "./with-runtime.js";

/** `chat AGENT`: a line in, a reply out, in one session. An empty line is skipped; Ctrl-D ends it. */
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
		for await (const message of inputLines(context)) {
			if (message.trim() === "") continue;
			const aborter = new AbortController();
			const cancel = () => aborter.abort();
			process.once("SIGINT", cancel);
			try {
				const result = await runtime.runTurn(reference, message, {
					signal: aborter.signal,
					...(session === undefined ? {} : { session }),
					...(approver === undefined ? {} : { approver }),
					...(context.json ? {} : { onEvent: (event) => tellEvent(context, event) }),
				});
				code = printResult(context, result);
				if (result.kind === "refused") return code;
				session = result.session;
			} catch (error) {
				code = printError(error, context.json);
				if (session === undefined) return code;
			} finally {
				process.off("SIGINT", cancel);
			}
		}
		return code;
	});
}

/** Lines of standard input, with a prompt on a terminal. The reader is closed between lines, so that approvals can read too. */
async function* inputLines(context: Context): AsyncGenerator<string> {
	if (process.stdin.isTTY !== true) {
		yield* createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
		return;
	}
	context.tell("Ctrl-C ends a turn, Ctrl-D the conversation.");
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
