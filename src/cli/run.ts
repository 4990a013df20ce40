import type { TurnEvent } from "../contract/index.js";
import { escapeText } from "../errors.js";
import type { TurnResult } from "../runtime/index.js";
import { approverFor } from "./approver.js";
import { type Context, describeError, exitCodes } from "./context.js";
import { interruptSignal, withRuntime } from "./with-runtime.js";

/** `run REPO|ALIAS "message"`: one turn, its progress on stderr, the reply on stdout. */
export async function run(
	context: Context,
	args: readonly string[],
	options: Record<string, unknown>,
): Promise<number> {
	const [reference = "", message = ""] = args;
	const { signal, done } = interruptSignal();
	try {
		const approver = approverFor(context, options);
		const result = await withRuntime(context, (runtime) =>
			runtime.runTurn(reference, message, {
				signal,
				...(typeof options.session === "string" ? { session: options.session } : {}),
				...(approver === undefined ? {} : { approver }),
				...(context.json ? {} : { onEvent: (event) => tellEvent(context, event) }),
			}),
		);
		return printResult(context, result);
	} finally {
		done();
	}
}

/** Prints what became of a turn (DESIGN section 11) and gives the exit code. */
export function printResult(context: Context, result: TurnResult): number {
	switch (result.kind) {
		case "refused": {
			const lines = result.failures.map(
				({ rule, message, fix }) => `  ${rule}: ${message}${fix === undefined ? "" : `\n    fix: ${fix}`}`,
			);
			context.print({ refused: true, failures: result.failures }, ["refused; nothing was run", ...lines].join("\n"));
			return exitCodes.refused;
		}
		case "failed": {
			const { error, session, turn, tools, published } = result;
			if (context.json)
				context.print({ error, session, turn, tools, ...(published === undefined ? {} : { published }) }, "");
			else context.tell(describeError(error));
			return error.owner === "host" ? exitCodes.host : exitCodes.refused;
		}
		case "done": {
			const { kind: _kind, ...rest } = result;
			context.print(rest, result.reply);
			if (context.json) return exitCodes.ok;
			for (const { setting, asked, given } of result.narrowed)
				context.tell(`narrowed: ${setting} from ${asked} to ${given}`);
			if (result.stop !== "end") context.tell(`stopped: ${result.stop}`);
			if (result.published?.ok === false)
				context.tell(`state was not published: ${describeError(result.published.error)}`);
			context.tell(`session ${result.session}`);
			return exitCodes.ok;
		}
		default:
			return result satisfies never;
	}
}

/** One line of progress for the events a person wants to see. */
export function tellEvent(context: Context, event: TurnEvent): void {
	if (event.type === "tool-start")
		context.tell(`→ ${escapeText(event.call.name)} ${escapeText(JSON.stringify(event.call.arguments))}`);
	if (event.type === "tool-denied")
		context.tell(`✗ ${escapeText(event.call.name)} denied by ${event.rule}: ${event.reason}`);
	if (event.type === "tool-end") {
		const { report } = event;
		const failed =
			report.error === undefined
				? ""
				: ` ${report.error.message}${report.error.next === undefined ? "" : ` (${report.error.next})`}`;
		context.tell(
			`${report.ok ? "✓" : "✗"} ${escapeText(report.name)} (${report.owner}, ${report.ms.toFixed(1)} ms)${failed}`,
		);
	}
}
