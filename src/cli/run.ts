import type { TurnResult } from "../runtime/index.js";
import { approverFor } from "./approver.js";
import { type Context, describeError, exitCodes } from "./context.js";
import { type TurnWatch, watchTurn } from "./watch-turn.js";
import { interruptSignal, withRuntime } from "./with-runtime.js";

/** `run REPO|ALIAS "message"`: one turn, its progress on stderr, the reply on stdout. */
export async function run(
	context: Context,
	args: readonly string[],
	options: Record<string, unknown>,
): Promise<number> {
	const [reference = "", message = ""] = args;
	const { signal, done } = interruptSignal(context);
	try {
		const approver = approverFor(context, options);
		const watch = watchTurn(context);
		const result = await withRuntime(context, (runtime) =>
			runtime.runTurn(reference, message, {
				signal,
				...(typeof options.session === "string" ? { session: options.session } : {}),
				...(approver === undefined ? {} : { approver }),
				...watch.options,
			}),
		);
		if (context.json) context.print(turnValue(result), "");
		else printTurn(context, result, watch);
		return turnExitCode(result);
	} finally {
		done();
	}
}

/** What became of a turn as `--json` gives it (DESIGN section 11). */
export function turnValue(result: TurnResult): object {
	switch (result.kind) {
		case "refused":
			return { refused: true, failures: result.failures };
		case "failed": {
			const { error, session, turn, tools, published } = result;
			return { error, session, turn, tools, ...(published === undefined ? {} : { published }) };
		}
		case "done": {
			const { kind: _kind, ...rest } = result;
			return rest;
		}
		default:
			return result satisfies never;
	}
}

/** The exit code of a turn. */
export function turnExitCode(result: TurnResult): number {
	if (result.kind === "done") return exitCodes.ok;
	return result.kind === "failed" && result.error.owner === "host" ? exitCodes.host : exitCodes.refused;
}

/** Says to a person what became of a turn: the reply or the refusal on stdout, unless it stands there; the rest on stderr. */
export function printTurn(context: Context, result: TurnResult, watch: TurnWatch): void {
	switch (result.kind) {
		case "refused": {
			const lines = result.failures.map(
				({ rule, message, fix }) => `  ${rule}: ${message}${fix === undefined ? "" : `\n    fix: ${fix}`}`,
			);
			context.print(turnValue(result), ["refused; nothing was run", ...lines].join("\n"));
			return;
		}
		case "failed":
			context.tell(describeError(result.error));
			return;
		case "done":
			if (!watch.hasShown(result.reply)) context.print(turnValue(result), result.reply);
			for (const { setting, asked, given } of result.narrowed)
				context.tell(`narrowed: ${setting} from ${asked} to ${given}`);
			if (result.stop !== "end") context.tell(`stopped: ${result.stop}`);
			if (result.published?.ok === false)
				context.tell(`state was not published: ${describeError(result.published.error)}`);
			context.tell(`session ${result.session}`);
			return;
		default:
			result satisfies never;
	}
}
