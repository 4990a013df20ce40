// Runs in: worker.
import build from "@jitl/quickjs-wasmfile-release-sync";
import {
	newQuickJSWASMModuleFromVariant,
	type QuickJSContext,
	type QuickJSRuntime,
	type QuickJSSyncVariant,
} from "quickjs-emscripten-core";
import { leastPages, quickjsModule } from "./quickjs-module.js";

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
/** Less than this cannot hold the engine and a plugin. */
const leastBytes = 8 * 2 ** 20;
/**
 * Bytes of engine stack a plugin may use, about 1,500 calls deep. Chosen by trial: with more, V8's own stack ends
 * first in a worker thread, which the instance does not survive.
 */
const stackBytes = 256 * 1024;
/** The grain of a snapshot. */
const blockBytes = 1024;

type LoadOptions = {
	readonly wasmMemory: WebAssembly.Memory;
	readonly instantiateWasm: (
		imports: WebAssembly.Imports,
		done: (instance: WebAssembly.Instance) => void,
	) => WebAssembly.Exports;
	readonly print: () => void;
	readonly printErr: () => void;
};
type Ffi = Awaited<ReturnType<QuickJSSyncVariant["importFFI"]>>;
type RawModule = ConstructorParameters<Ffi>[0];
type Load = (options: LoadOptions) => Promise<RawModule>;
type Callback = (...args: readonly number[]) => number;

/** A memory as the set-up left it: what differs from a new instance, and where the runtime and its realm lie. */
type Snapshot = {
	readonly pieces: readonly { readonly at: number; readonly bytes: Uint8Array }[];
	readonly runtime: ReturnType<InstanceType<Ffi>["QTS_NewRuntime"]>;
	readonly context: ReturnType<InstanceType<Ffi>["QTS_NewContext"]>;
};

// the package declares CommonJS types for what is an ES module here
const variant = build as unknown as QuickJSSyncVariant;

/**
 * Makes a function that makes fresh engines. The module is compiled, and `setUp` run, once in each thread (about 20 ms
 * together); what they left in memory is written into each new instance, so that an engine takes about 1 ms and 0.4 MiB.
 * Every call therefore gets an engine of its own and none is ever reused: two calls share no memory, what was stopped
 * midway is dropped, and nothing of a plugin is ever in the snapshot.
 *
 * The walls are the linear memory's maximum and the engine's stack limit. QuickJS's own memory limit is not used: built
 * by Emscripten it cannot see the size of its blocks and does not bound anything (measured: 57 MiB under a limit of 1 MiB).
 *
 * The function takes the linear memory's maximum in bytes, the engine's own 5.5 MiB included; at least 8 MiB are given.
 *
 * @param setUp runs the host's own sources in a new realm; it must leave no function of the host in it
 */
export function engineFactory(setUp: (engine: Engine) => void): (memoryBytes: number) => Promise<Engine> {
	let snapshot: Promise<Snapshot> | undefined;
	return async (memoryBytes) => {
		snapshot ??= takeSnapshot(setUp);
		return openEngine(Math.max(memoryBytes, leastBytes), await snapshot);
	};
}

async function takeSnapshot(setUp: (engine: Engine) => void): Promise<Snapshot> {
	const memory = new WebAssembly.Memory({ initial: leastPages, maximum: leastPages });
	const raw = await instantiate(memory);
	const before = new Uint8Array(memory.buffer).slice();
	const pointers: { runtime?: Snapshot["runtime"]; context?: Snapshot["context"] } = {};
	const engine = await newQuickJSWASMModuleFromVariant({
		...variant,
		importModuleLoader: async () => async () => raw,
		importFFI: async () => {
			const Ffi = await variant.importFFI();
			return class extends Ffi {
				constructor(module: RawModule) {
					super(module);
					const { QTS_NewRuntime, QTS_NewContext } = this;
					this.QTS_NewRuntime = () => {
						pointers.runtime = QTS_NewRuntime();
						return pointers.runtime;
					};
					this.QTS_NewContext = (...args) => {
						pointers.context = QTS_NewContext(...args);
						return pointers.context;
					};
				}
			};
		},
	});
	const runtime = engine.newRuntime();
	runtime.setMaxStackSize(stackBytes);
	setUp({ runtime, context: runtime.newContext(), isFull: () => false });
	if (pointers.runtime === undefined || pointers.context === undefined) throw new Error("QuickJS has not started");
	return { pieces: difference(before, new Uint8Array(memory.buffer)), ...pointers } as Snapshot;
}

/** The pieces of `after` that are not as in `before`, in blocks. */
function difference(before: Uint8Array, after: Uint8Array): Snapshot["pieces"] {
	const pieces: { at: number; bytes: Uint8Array }[] = [];
	for (let at = 0; at < after.length; at += blockBytes) {
		const block = after.subarray(at, at + blockBytes);
		if (Buffer.compare(block, before.subarray(at, at + blockBytes)) !== 0) pieces.push({ at, bytes: block.slice() });
	}
	return pieces;
}

async function openEngine(bytes: number, snapshot: Snapshot): Promise<Engine> {
	const maximum = Math.max(leastPages, Math.floor(bytes / pageBytes));
	const memory = new WebAssembly.Memory({ initial: leastPages, maximum });
	const raw = await instantiate(memory);
	const view = new Uint8Array(memory.buffer);
	for (const { at, bytes: piece } of snapshot.pieces) view.set(piece, at);
	guardAllocation(raw);
	const engine = await newQuickJSWASMModuleFromVariant({
		...variant,
		importModuleLoader: async () => async () => raw,
		importFFI: async () => {
			const Ffi = await variant.importFFI();
			return class extends Ffi {
				constructor(module: RawModule) {
					super(module);
					// both are in memory already
					this.QTS_NewRuntime = () => snapshot.runtime;
					this.QTS_NewContext = () => snapshot.context;
				}
			};
		},
	});
	const runtime = engine.newRuntime();
	const context = runtime.newContext();
	letErrorsThrough(raw, runtime, context);
	return { runtime, context, isFull: () => memory.buffer.byteLength >= maximum * pageBytes * 0.9 };
}

async function instantiate(memory: WebAssembly.Memory): Promise<RawModule> {
	// the types allow wrappers around the loader that this package does not use
	const load = (await variant.importModuleLoader()) as unknown as Load;
	const module = quickjsModule();
	return load({
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
}

/** Lets the host notice when the guest's memory is full. */
function guardAllocation(raw: RawModule): void {
	const allocate = raw._malloc;
	raw._malloc = (size) => {
		const pointer = allocate(size);
		// the library would write to address 0
		if (pointer === 0) throw new GuestMemoryError();
		return pointer;
	};
}

/**
 * What fails in the host while the guest calls it, such as for want of stack or guest memory, ends the stretch. The
 * library would print it on the console, which a plugin could fill, and let the guest go on.
 */
function letErrorsThrough(raw: RawModule, runtime: QuickJSRuntime, context: QuickJSContext): void {
	type Callbacks = { readonly cToHostCallbacks: { readonly [name: string]: Callback } };
	const ofRuntime = (runtime as unknown as Callbacks).cToHostCallbacks;
	const ofContext = (context as unknown as Callbacks).cToHostCallbacks;
	const through = (callbacks: { readonly [name: string]: Callback }, name: string) => {
		const callback = callbacks[name];
		if (callback === undefined) throw new Error(`QuickJS has no callback ${name}`);
		return (_asyncify: undefined, ...args: readonly number[]) => callback(...args);
	};
	Object.assign(raw, {
		callbacks: {
			callFunction: through(ofContext, "callFunction"),
			shouldInterrupt: through(ofRuntime, "shouldInterrupt"),
			loadModuleSource: through(ofRuntime, "loadModuleSource"),
			normalizeModule: through(ofRuntime, "normalizeModule"),
			freeHostRef: through(ofRuntime, "freeHostRef"),
		},
	});
}
