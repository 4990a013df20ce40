// Runs in: worker.
import createPlugin, { type ExtismPluginOptions, type Plugin } from "@extism/extism";
import type { PluginCode } from "../../contract/index.js";
import { HostError } from "../../errors.js";
import type { CallState } from "./call-state.js";
import { createHostFunctions } from "./host-functions.js";
import type { Kernel } from "./kernel.js";
import {
	extismEnvironment,
	hiddenPrefix,
	hostModule,
	ownHttpModule,
	ownWasiModule,
	startExport,
} from "./link-names.js";
import { createWasi } from "./wasi.js";

/** WebAssembly calls a function with numbers and bigints, as its own declaration of the import says. */
type Import = (...args: never[]) => unknown;
type Own = { readonly [module: string]: { readonly [name: string]: Import } };
type SdkFunctions = NonNullable<ExtismPluginOptions["functions"]>;

/** A prepared module, with its imports read once for all of its calls. */
export type LinkedModule = {
	readonly compiled: WebAssembly.Module;
	readonly imports: readonly WebAssembly.ModuleImportDescriptor[];
};

/**
 * Links and instantiates a prepared module through the SDK, in this thread, with our functions for all of its imports.
 * No guest code runs here: a prepared module starts nothing by itself.
 *
 * @throws HostError `plugin.link` when an import is not given, `engine.no_room` when its memory cannot be had; a
 * `WebAssembly.RuntimeError` when its data does not fit
 */
export async function instantiate(
	module: LinkedModule,
	state: CallState,
	kernel: Kernel,
): Promise<WebAssembly.Instance> {
	let memory: WebAssembly.Memory | undefined;
	const { http_request, ...environment } = kernel.functions;
	const own: Own = {
		[extismEnvironment]: environment,
		[ownHttpModule]: { http_request },
		[hostModule]: createHostFunctions(state),
		[ownWasiModule]: state.code.body.profile === "wasm" && state.code.body.wasi ? createWasi(state, () => memory) : {},
	};
	const functions = linkFunctions(module.imports, own, state.code);
	const plugin = await linkWithSdk(module.compiled, functions);
	const instance = await plugin.getInstance();
	if (instance.exports.memory instanceof WebAssembly.Memory) memory = instance.exports.memory;
	return instance;
}

async function linkWithSdk(module: WebAssembly.Module, functions: SdkFunctions): Promise<Plugin> {
	try {
		return await createPlugin(
			{ wasm: [{ module, name: "main" }] },
			{
				// everything the SDK would otherwise take from the module's manifest, the environment or this process
				useWasi: false,
				runInWorker: false,
				enableWasiOutput: false,
				allowedHosts: [],
				allowedPaths: {},
				config: {},
				memory: {},
				timeoutMs: null,
				logLevel: "silent",
				fetch: noFetch,
				functions,
			},
		);
	} catch (error) {
		// no guest code has run: this process has no room for another memory
		if (error instanceof RangeError) throw new HostError("engine.no_room", { detail: error.message }, { cause: error });
		throw error;
	}
}

/**
 * Runs what a module wants to run before it is called, as the SDK does: its start function, a reactor's `_initialize`, a
 * Haskell runtime's `hs_init`, and the `_start` of a command that has no other and no WASI. Under a watchdog only.
 */
export function runInitialisers(instance: WebAssembly.Instance, code: PluginCode): void {
	const run = (name: string): boolean => {
		const found = instance.exports[name];
		if (typeof found === "function") found();
		return typeof found === "function";
	};
	run(startExport);
	const initialised = run(`${hiddenPrefix}_initialize`);
	const haskell = run(`${hiddenPrefix}hs_init`);
	const wasi = code.body.profile === "wasm" && code.body.wasi;
	if (!initialised && !haskell && !wasi) run(`${hiddenPrefix}_start`);
}

/**
 * The functions a module imports, and no others, in the SDK's form: it hands every function its own context first, which
 * ours must not see. A missing one is said here rather than by the SDK, whose error has no type.
 */
function linkFunctions(
	imports: readonly WebAssembly.ModuleImportDescriptor[],
	own: Own,
	code: PluginCode,
): SdkFunctions {
	const linked: SdkFunctions = {};
	for (const { module, name, kind } of imports) {
		const given = Object.hasOwn(own, module) ? own[module] : undefined;
		const run = given !== undefined && Object.hasOwn(given, name) ? given[name] : undefined;
		if (run === undefined || kind !== "function") {
			throw new HostError("plugin.link", { plugin: code.id, detail: `nothing is given for ${module} ${name}` });
		}
		const functions = linked[module] ?? {};
		functions[name] = (_context: unknown, ...args: unknown[]) => run(...(args as never[]));
		linked[module] = functions;
	}
	return linked;
}

const noFetch: typeof fetch = () => Promise.reject(new Error("the SDK has no network here"));
