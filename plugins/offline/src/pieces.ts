import { type ChatOutput, type EmitEvent, textOf } from "@mortise/sdk";

/** An answer in the pieces in which it is emitted: a word at a time, then each call whole. */
export function piecesOf({ content, toolCalls }: ChatOutput): readonly EmitEvent[] {
	const words = textOf(content).match(/\s*\S+|\s+$/g) ?? [];
	return [
		...words.map((text): EmitEvent => ({ type: "delta", text })),
		...toolCalls.map(
			({ id, name, arguments: given }): EmitEvent => ({
				type: "tool-call",
				id,
				name,
				argumentsText: JSON.stringify(given),
			}),
		),
	];
}
