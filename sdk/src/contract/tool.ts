import { z } from "zod";
import { JsonObject, JsonSchema } from "./json.js";
import { ToolName } from "./names.js";
import { Part } from "./part.js";

/** Hints about what a tool does; they can only make the gate stricter. */
export const Effect = z.enum(["network", "read", "write", "spend", "execute"]);
export type Effect = z.infer<typeof Effect>;

/** `tool.call` input. */
export const ToolCallInput = z.strictObject({ name: ToolName, arguments: JsonObject });
export type ToolCallInput = z.infer<typeof ToolCallInput>;

/** `tool.call` output. A tool that reports failure sets `isError`; the model reads the content. */
export const ToolCallOutput = z.strictObject({
	content: z.array(Part),
	structured: z.json().optional(),
	isError: z.boolean().optional(),
});
export type ToolCallOutput = z.infer<typeof ToolCallOutput>;

/** A tool as a model is told of it. */
export const ToolSpec = z.strictObject({ name: z.string(), description: z.string(), input: JsonSchema });
export type ToolSpec = z.infer<typeof ToolSpec>;
