// Runs in: worker.
import type { HostFunction } from "@mortise/sdk/contract";
import type { EffectiveLimits, ErrorReport, HostPort, PluginCode } from "../contract/index.js";
import { errorReport } from "../errors.js";
import { openEsm } from "./esm/esm.js";
import { probeOp } from "./probe-op.js";
import { prepareModule } from "./wasm/prepare.js";
import { door } from "./wasm/wasm.js";

/** A bundle before it is admitted: what a worker needs to try it. */
export type BundleCode = {
	readonly id: string;
	readonly version: string;
	readonly digest: string;
	readonly body:
		| { readonly runtime: "wasm"; readonly bytes: Uint8Array }
		| { readonly runtime: "esm"; readonly entry: string; readonly sources: { readonly [path: string]: string } };
	/** Tools that are plain Extism exports. */
	readonly exports: PluginCode["exports"];
	/** Whether the bundle must answer at the door; one of plain exports alone need not. */
	readonly door: boolean;
	/** Host functions the manifest asks for, granted or not: importing any other is refused. */
	readonly asked: readonly HostFunction[];
	readonly limits: EffectiveLimits;
};

export type Prepared = { readonly ok: true; readonly body: PluginCode["body"] } | Refused;
type Refused = { readonly ok: false; readonly error: ErrorReport };

/** Makes a bundle's code ready to be opened: a WebAssembly module is checked, capped and compiled. Never rejects. */
export async function prepareBody(bundle: BundleCode): Promise<Prepared> {
	const { body } = bundle;
	if (body.runtime === "esm")
		return { ok: true, body: { profile: "wasm-js", entry: body.entry, sources: body.sources } };
	const prepared = await prepareModule(body.bytes, {
		memoryBytes: bundle.limits.memoryBytes,
		hostFunctions: bundle.asked,
	});
	if (!prepared.ok) return prepared;
	const needed = [...(bundle.door ? [door] : []), ...Object.values(bundle.exports).map((tool) => tool.export)];
	const missing = needed.filter((name) => !prepared.exports.includes(name));
	if (missing.length > 0)
		return { ok: false, error: errorReport("engine.export_missing", { plugin: bundle.id, missing }) };
	return { ok: true, body: { profile: "wasm", module: prepared.module, wasi: prepared.wasi } };
}

/**
 * Tries a bundle: a WebAssembly module must prepare and export what its manifest names; an ES module must load within
 * its limits and export a handler, which is not called. No host function answers meanwhile. Never rejects.
 */
export async function probePlugin(bundle: BundleCode): Promise<{ readonly ok: true } | Refused> {
	const prepared = await prepareBody(bundle);
	if (!prepared.ok) return prepared;
	if (prepared.body.profile === "wasm") return { ok: true };
	const { id, version, digest, exports, limits } = bundle;
	const code: PluginCode = {
		id,
		version,
		digest,
		exports,
		limits,
		body: prepared.body,
		hostFunctions: [],
		ungranted: {},
		config: {},
	};
	const outcome = await openEsm(code, noHost).call({
		op: probeOp,
		input: {},
		call: "probe",
		timeoutMs: limits.timeoutMs,
	});
	return outcome.ok ? { ok: true } : { ok: false, error: outcome.error };
}

const noHost: HostPort = {
	call: async () => ({
		ok: false,
		failure: { code: "unsupported", message: "nothing answers while a bundle is tried" },
	}),
	callBlocking: () => ({
		ok: false,
		failure: { code: "unsupported", message: "nothing answers while a bundle is tried" },
	}),
};
