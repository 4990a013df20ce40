export {
	ChannelAckInput,
	ChannelHealthOutput,
	ChannelSendInput,
	ChannelSendOutput,
	ChannelStartInput,
	InboundEvent,
} from "./channel.js";
export { Answer, Envelope } from "./envelope.js";
export { Failure, FailureCode } from "./failure.js";
export {
	type EmitEvent,
	type Host,
	type HostArguments,
	type HostFunction,
	HostResult,
	type HostValue,
	hostFunctions,
	maxListedKeys,
	maxRandomBytes,
	ungatedHostFunctions,
} from "./host.js";
export { IsolationProfile } from "./isolation.js";
export { JsonObject, JsonSchema, type JsonValue } from "./json.js";
export { Duration, HostPattern, Limits, Manifest, ManifestTool, Permissions, SecretUse, Size } from "./manifest.js";
export {
	CountInput,
	CountOutput,
	Entry,
	ForgetOutput,
	GetOutput,
	KeyInput,
	ListInput,
	ListOutput,
	MemoryHealthOutput,
	RecallInput,
	RecallOutput,
	StoreInput,
	StoreOutput,
} from "./memory.js";
export { BundleId, Kind, SecretName, SourceName, ToolName, toolNamePattern } from "./names.js";
export { type InputOf, type Operation, type OutputOf, operations } from "./operations.js";
export { Part, text, textOf } from "./part.js";
export { ChatInput, ChatOutput, Message, ModelsOutput, ToolCall, Usage } from "./provider.js";
export { PublishInput, State } from "./state.js";
export { Effect, ToolCallInput, ToolCallOutput, ToolSpec } from "./tool.js";
