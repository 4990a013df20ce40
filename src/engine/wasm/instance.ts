// Runs in: worker.
import createPlugin, { type ExtismPluginOptions } from "@extism/extism";
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
type SdkFunctions = NonNullable<ExtismPluginOptions["functions"]>;

/**
 * Links and instantiates a prepared module through the SDK, in this thread, with our functions for all of its imports.
 * No guest code runs here: a prepared module starts nothing by itself.
 *
 * @throws HostError `plugin.link` when an import is not given; a `WebAssembly.RuntimeError` when its data does not fit
 */
export async function instantiate(
	module: WebAssembly.Module,
	state: CallState,
	kernel: Kernel,
): Promise<WebAssembly.Instance> {
	let memory: WebAssembly.Memory | undefined;
	const { http_request, ...environment } = kernel.functions;
	const own: { readonly [module: string]: { readonly [name: string]: Import } } = {
		[extismEnvironment]: environment,
		[ownHttpModule]: { http_request },
		[hostModule]: createHostFunctions(state),
		[ownWasiModule]: state.code.body.profile === "wasm" && state.code.body.wasi ? createWasi(state, () => memory) : {},
	};
	checkLinks(module, own, state.code);
	const plugin = await createPlugin(
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
			functions: withoutContext(own),
		},
	);
	const instance = await plugin.getInstance();
	if (instance.exports.memory instanceof WebAssembly.Memory) memory = instance.exports.memory;
	return instance;
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

/** Said here rather than by the SDK, whose error has no type. */
function checkLinks(
	module: WebAssembly.Module,
	own: { readonly [module: string]: { readonly [name: string]: Import } },
	code: PluginCode,
): void {
	for (const wanted of WebAssembly.Module.imports(module)) {
		const given = Object.hasOwn(own, wanted.module) ? own[wanted.module] : undefined;
		if (given !== undefined && Object.hasOwn(given, wanted.name) && wanted.kind === "function") continue;
		throw new HostError("plugin.link", {
			plugin: code.id,
			detail: `nothing is given for ${wanted.module} ${wanted.name}`,
		});
	}
}

/** The SDK hands every function its own context first; ours must not see it. */
function withoutContext(own: { readonly [module: string]: { readonly [name: string]: Import } }): SdkFunctions {
	return Object.fromEntries(
		Object.entries(own).map(([module, functions]) => [
			module,
			Object.fromEntries(
				Object.entries(functions).map(([name, run]) => [
					name,
					(_context: unknown, ...args: unknown[]) => run(...(args as never[])),
				]),
			),
		]),
	);
}

const noFetch: typeof fetch = () => Promise.reject(new Error("the SDK has no network here"));
