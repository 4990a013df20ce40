// Runs in: worker.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import build from "@jitl/quickjs-wasmfile-release-sync";
import {
	newQuickJSWASMModuleFromVariant,
	type QuickJSContext,
	type QuickJSRuntime,
	type QuickJSSyncVariant,
} from "quickjs-emscripten-core";

/** A JavaScript engine of its own: one WebAssembly instance with one linear memory, one runtime, one realm. */
export type Engine = {
	readonly runtime: QuickJSRuntime;
	readonly context: QuickJSContext;
	/** True when the linear memory has grown to its maximum, which is where an allocation first fails. */
	readonly isFull: () => boolean;
};

/** The host asked the guest's allocator for room and there was none. */
export class GuestMemoryError extends Error {}

const pageBytes = 65_536;
/** The engine's module imports a memory of at least this many pages; about 5.2 MiB of it are its own stack and data. */
const leastPages = 256;
/** Less than this cannot hold the engine and a plugin. */
const leastBytes = 8 * 2 ** 20;
/**
 * Bytes of engine stack a plugin may use, about 1,500 calls deep. Chosen by trial: with more, V8's own stack ends
 * first in a worker thread, which the instance does not survive.
 */
const stackBytes = 256 * 1024;

type LoadOptions = {
	readonly wasmMemory: WebAssembly.Memory;
	readonly instantiateWasm: (
		imports: WebAssembly.Imports,
		done: (instance: WebAssembly.Instance) => void,
	) => WebAssembly.Exports;
	readonly print: () => void;
	readonly printErr: () => void;
};
type RawModule = ConstructorParameters<Awaited<ReturnType<QuickJSSyncVariant["importFFI"]>>>[0];
type Load = (options: LoadOptions) => Promise<RawModule>;

// the package declares CommonJS types for what is an ES module here
const variant = build as unknown as QuickJSSyncVariant;
let compiled: WebAssembly.Module | undefined;

/**
 * A fresh engine. The module is compiled once in each thread (about 5 ms); an instance takes about 1 ms and 0.3 MiB,
 * so every call gets its own and none is ever reused: two calls share no memory, and what was stopped midway is dropped.
 *
 * The walls are the linear memory's maximum and the engine's stack limit. QuickJS's own memory limit is not used: built
 * by Emscripten it cannot see the size of its blocks and does not bound anything (measured: 57 MiB under a limit of 1 MiB).
 *
 * @param memoryBytes the linear memory's maximum, the engine's own 5.2 MiB included; at least 8 MiB are given
 */
export async function createEngine(memoryBytes: number): Promise<Engine> {
	const bytes = Math.max(memoryBytes, leastBytes);
	const maximum = Math.max(leastPages, Math.floor(bytes / pageBytes));
	const memory = new WebAssembly.Memory({ initial: leastPages, maximum });
	const engine = await newQuickJSWASMModuleFromVariant({
		...variant,
		importModuleLoader: async () => async () => instantiate(memory, leastPages * pageBytes - bytes),
	});
	const runtime = engine.newRuntime();
	runtime.setMaxStackSize(stackBytes);
	const context = runtime.newContext();
	return { runtime, context, isFull: () => memory.buffer.byteLength >= maximum * pageBytes * 0.9 };
}

async function instantiate(memory: WebAssembly.Memory, ballastBytes: number): Promise<RawModule> {
	// the types allow wrappers around the loader that this package does not use
	const load = (await variant.importModuleLoader()) as unknown as Load;
	compiled ??= new WebAssembly.Module(
		readFileSync(createRequire(import.meta.url).resolve("@jitl/quickjs-wasmfile-release-sync/wasm")),
	);
	const module = compiled;
	const raw = await load({
		wasmMemory: memory,
		instantiateWasm(imports, done) {
			const instance = new WebAssembly.Instance(module, imports);
			done(instance);
			return instance.exports;
		},
		// an abort inside the engine is reported as the call's outcome, not on the host's console
		print: () => {},
		printErr: () => {},
	});
	const allocate = raw._malloc;
	// takes away what a limit under 16 MiB does not allow; never touched, so it costs no memory
	if (ballastBytes > 0) allocate(ballastBytes);
	raw._malloc = (size) => {
		const pointer = allocate(size);
		// the library would write to address 0
		if (pointer === 0) throw new GuestMemoryError();
		return pointer;
	};
	return raw;
}
