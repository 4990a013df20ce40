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

export { text, textOf } from "./content.js";
