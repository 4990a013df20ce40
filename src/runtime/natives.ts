import type { AgentSpec } from "../agent/index.js";
import type { CallOutcome, LoadedSet, PlannedTool } from "../contract/index.js";
import {
	createFileTools,
	createMemoryTools,
	createPluginMemory,
	type MemoryOperation,
	type MemoryStore,
	type NativeTool,
} from "../tools/index.js";

export type NativeOptions = {
	readonly set: LoadedSet;
	/** The host's own store; absent when the configuration leaves it out. */
	readonly sqlite: MemoryStore | undefined;
	/** One operation of a bundle's memory, for one agent. */
	readonly callMemory: (bundle: string, agent: string, op: MemoryOperation, input: unknown) => Promise<CallOutcome>;
};

/** The native tools of one agent: memory over the store it names, files over its workspace. */
export function nativeTools(spec: AgentSpec, workspace: string, options: NativeOptions): readonly NativeTool[] {
	const memory = memoryOf(spec, options);
	return [...(memory === undefined ? [] : createMemoryTools(memory)), ...createFileTools(workspace)];
}

/** The native tools as data, for the registry: what every agent's natives are made of. */
export function nativeToolNames(set: LoadedSet, sqlite: MemoryStore | undefined): readonly PlannedTool[] {
	const hasMemory =
		sqlite !== undefined || set.plugins.some((each) => (each.bundle.manifest.provides.memory ?? []).length > 0);
	const files = createFileTools("/nowhere");
	const memory = hasMemory ? createMemoryTools(sqlite ?? unopened) : [];
	return [...memory, ...files].map((native) => native.tool);
}

/** The store an agent names: the host's own first, then the bundle's with the lowest id. */
function memoryOf(spec: AgentSpec, options: NativeOptions): MemoryStore | undefined {
	const name = spec.memory?.name;
	if (name === undefined) return undefined;
	if (name === options.sqlite?.name) return options.sqlite;
	const plugin = options.set.plugins.find((each) =>
		(each.bundle.manifest.provides.memory ?? []).some((memory) => memory.name === name),
	);
	if (plugin === undefined) return undefined;
	const bundle = plugin.bundle.manifest.id;
	return createPluginMemory(name, (op, input) => options.callMemory(bundle, spec.key, op, input));
}

/** Stands where only the tools' descriptions are wanted. */
const unopened = createPluginMemory("unopened", async () => {
	throw new Error("a description was executed");
});
