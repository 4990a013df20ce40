import type { Part } from "./part.js";

// apart from part.ts, so that a plugin's bundle takes these without the schemas

/** A list holding one text part. */
export function text(value: string): Part[] {
	return [{ type: "text", text: value }];
}

/** The text of all text parts, joined by line breaks. */
export function textOf(content: readonly Part[]): string {
	return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
