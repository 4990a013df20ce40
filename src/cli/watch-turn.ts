import { textOf } from "@mortise/sdk/contract";
import type { TurnEvent } from "../contract/index.js";
import { escapeText } from "../errors.js";
import type { TurnOptions } from "../runtime/index.js";
import type { Context } from "./context.js";

/** A turn as a person sees it while it runs. */
export type TurnWatch = {
	readonly options: Pick<TurnOptions, "onEvent" | "stream">;
	/** Whether the reply stands on the screen already. */
	readonly hasShown: (reply: string) => boolean;
};

/** Tells each tool call on stderr and, on a terminal, writes the answer as it grows. With `--json` nothing is told. */
export function watchTurn(context: Context): TurnWatch {
	const { piece, json } = context;
	let written = "";
	let shown: string | undefined;
	const onEvent = (event: TurnEvent): void => {
		if (event.type === "model-delta" && event.piece.type === "delta") {
			written += event.piece.text;
			piece?.(event.piece.text);
		} else if (event.type === "model-end") {
			if (written !== "" && !written.endsWith("\n")) piece?.("\n");
			shown = written === textOf(event.content) ? written : undefined;
			written = "";
		} else tellEvent(context, event);
	};
	return {
		options: json ? {} : { onEvent, stream: piece !== undefined },
		hasShown: (reply) => shown === reply,
	};
}

/** One line of progress for the events a person wants to see. */
function tellEvent(context: Context, event: TurnEvent): void {
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
