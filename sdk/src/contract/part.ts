import { z } from "zod";

/** One piece of content, as in MCP. `data` is base64. */
export const Part = z.discriminatedUnion("type", [
	z.strictObject({ type: z.literal("text"), text: z.string() }),
	z.strictObject({ type: z.literal("image"), data: z.base64(), mimeType: z.string() }),
	z.strictObject({ type: z.literal("audio"), data: z.base64(), mimeType: z.string() }),
	z.strictObject({
		type: z.literal("resource"),
		uri: z.string(),
		mimeType: z.string().optional(),
		text: z.string().optional(),
	}),
]);
export type Part = z.infer<typeof Part>;

/** A list holding one text part. */
export function text(value: string): Part[] {
	return [{ type: "text", text: value }];
}

/** The text of all text parts, joined by line breaks. */
export function textOf(content: readonly Part[]): string {
	return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}
