import { type JsonSchema, type ToolCallOutput, text } from "@mortise/sdk/contract";
import type { PlannedTool } from "../contract/index.js";

/** Whose call a native tool carries out. */
export type NativeContext = { readonly agent: string; readonly session: string; readonly signal: AbortSignal };

/**
 * A tool that is the host's own code and runs on the main thread, under policy. `execute` gets arguments that the gate
 * has checked against `tool.input`. It resolves with what the model reads, also when that is a failure (`isError`);
 * it rejects with a `HostError` when the host itself is at fault, or the call was cancelled (`plugin.cancelled`).
 */
export type NativeTool = {
	readonly tool: PlannedTool & { readonly origin: "native" };
	readonly execute: (input: { readonly [name: string]: unknown }, context: NativeContext) => Promise<ToolCallOutput>;
};

/** A closed schema of an object. */
export function objectSchema(
	properties: { readonly [name: string]: JsonSchema },
	required: readonly string[],
): JsonSchema {
	return { type: "object", properties, required: [...required], additionalProperties: false };
}

/** A failure that the model reads. */
export function failedOutput(message: string): ToolCallOutput {
	return { content: text(message), isError: true };
}
