import { z } from "zod";
import { JsonObject } from "./json.js";
import { Part } from "./part.js";
import { ToolSpec } from "./tool.js";

/** A tool call a model asks for. */
export const ToolCall = z.strictObject({ id: z.string().min(1), name: z.string(), arguments: JsonObject });
export type ToolCall = z.infer<typeof ToolCall>;

/** One message of a conversation. */
export const Message = z.discriminatedUnion("role", [
	z.strictObject({ role: z.literal("system"), content: z.array(Part) }),
	z.strictObject({ role: z.literal("user"), content: z.array(Part) }),
	z.strictObject({
		role: z.literal("assistant"),
		content: z.array(Part),
		toolCalls: z.array(ToolCall).optional(),
		reasoning: z.string().optional(),
	}),
	z.strictObject({
		role: z.literal("tool"),
		callId: z.string(),
		name: z.string(),
		content: z.array(Part),
		isError: z.boolean().optional(),
	}),
]);
export type Message = z.infer<typeof Message>;

/** `provider.chat` input. `toolChoice` is `auto`, `none`, `required` or a tool's name. */
export const ChatInput = z.strictObject({
	model: z.string(),
	messages: z.array(Message),
	tools: z.array(ToolSpec),
	options: z.strictObject({
		temperature: z.number().optional(),
		maxTokens: z.number().int().positive().optional(),
		stop: z.array(z.string()).optional(),
		toolChoice: z.string().optional(),
	}),
});
export type ChatInput = z.infer<typeof ChatInput>;

/** Tokens used. */
export const Usage = z.strictObject({
	input: z.number().int().nonnegative(),
	output: z.number().int().nonnegative(),
	cachedInput: z.number().int().nonnegative().optional(),
});
export type Usage = z.infer<typeof Usage>;

/** `provider.chat` output. A reply with neither text nor tool calls is an error, which the host raises. */
export const ChatOutput = z.strictObject({
	content: z.array(Part),
	toolCalls: z.array(ToolCall),
	reasoning: z.string().optional(),
	usage: Usage,
	stop: z.enum(["end", "tool", "length", "filtered"]),
});
export type ChatOutput = z.infer<typeof ChatOutput>;

/** `provider.models` input and output. */
export const ModelsInput = z.strictObject({});
export const ModelsOutput = z.strictObject({
	models: z.array(
		z.strictObject({
			id: z.string(),
			features: z.array(z.string()),
			contextTokens: z.number().int().positive().optional(),
		}),
	),
});
export type ModelsOutput = z.infer<typeof ModelsOutput>;
