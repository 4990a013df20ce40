export {
	type Assembled,
	type AssembleInput,
	alwaysReserved,
	assemble,
	type BundleTools,
	createDropLog,
	type ReservedName,
	type Why,
	why,
} from "./assemble.js";
export { createFileTools } from "./file-tools.js";
export { type CallMemory, createPluginMemory } from "./memory-plugin.js";
export { createSqliteMemory } from "./memory-sqlite.js";
export type { MemoryOperation, MemoryOutcome, MemoryStore } from "./memory-store.js";
export { createMemoryTools } from "./memory-tools.js";
export type { NativeContext, NativeTool } from "./native.js";
export { maxFileBytes, writeWorkspaceFile } from "./workspace.js";
