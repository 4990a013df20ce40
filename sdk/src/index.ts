export { text, textOf } from "./contract/content.js";
export type { Answer, Envelope } from "./contract/envelope.js";
export type { Failure, FailureCode } from "./contract/failure.js";
export type { EmitEvent, Host, HostArguments, HostFunction, HostValue } from "./contract/host.js";
export type { JsonObject, JsonSchema, JsonValue } from "./contract/json.js";
export type { Manifest } from "./contract/manifest.js";
export type {
	CountInput,
	Entry,
	GetOutput,
	KeyInput,
	ListInput,
	ListOutput,
	RecallInput,
	RecallOutput,
	StoreInput,
} from "./contract/memory.js";
export type { Part } from "./contract/part.js";
export type { ChatInput, ChatOutput, Message, ToolCall, Usage } from "./contract/provider.js";
export type { PublishInput, State } from "./contract/state.js";
export type { Effect, ToolCallOutput, ToolSpec } from "./contract/tool.js";
export type { Context } from "./define/context.js";
export { type FailureOptions, PluginFailure } from "./define/failure.js";
export { definePlugin, type Plugin, type PluginParts } from "./define/plugin.js";
export type { InputSchema, StandardSchema, ValueOf } from "./define/schema.js";
export {
	defineMemory,
	defineProvider,
	defineStateTarget,
	type Memory,
	type MemoryFeature,
	type Model,
	type Provider,
	type StateTarget,
} from "./define/sources.js";
export { defineTool, failure, type Tool, type ToolDefinition, type ToolResult } from "./define/tool.js";
