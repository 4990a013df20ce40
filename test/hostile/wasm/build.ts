import { readFileSync } from "node:fs";
import wabt from "wabt";
import type { EffectiveLimits, HostPort, PluginCode } from "../../../src/contract/index.js";
import { prepareModule } from "../../../src/engine/wasm/prepare.js";

const folder = new URL(".", import.meta.url);
const toolkit = await wabt();
const features = {
	exceptions: true,
	threads: true,
	memory64: true,
	bulk_memory: true,
	reference_types: true,
	simd: true,
};

/** The bytes of a module of this folder, by its name without `.wat`. */
export function buildHostile(name: string): Uint8Array {
	const prelude = readFileSync(new URL("prelude.wat", folder), "utf8");
	const source = readFileSync(new URL(`${name}.wat`, folder), "utf8").replace(";; include prelude", prelude);
	return buildText(source, name);
}

/** The bytes of a module given as text. Not validated: some are meant to be wrong. */
export function buildText(source: string, name = "module"): Uint8Array {
	const parsed = toolkit.parseWat(`${name}.wat`, source, features);
	try {
		return Uint8Array.from(parsed.toBinary({}).buffer);
	} finally {
		parsed.destroy();
	}
}

/** Limits small enough to run into. */
export const smallLimits: EffectiveLimits = {
	memoryBytes: 1_048_576,
	cpuMs: 300,
	timeoutMs: 2000,
	outputBytes: 262_144,
};

/** A host that answers everything with an empty value. */
export function aHost(port: Partial<HostPort> = {}): HostPort {
	return {
		call: async () => ({ ok: true, value: {} }),
		callBlocking: () => ({ ok: true, value: {} }),
		...port,
	};
}

/** A module of this folder, prepared and ready to open. */
export async function aPlugin(name: string, code: Partial<PluginCode> = {}): Promise<PluginCode> {
	const limits = { ...smallLimits, ...code.limits };
	const hostFunctions = code.hostFunctions ?? ["log", "now", "random"];
	const ungranted = code.ungranted ?? {};
	const asked = [...hostFunctions, ...(Object.keys(ungranted) as PluginCode["hostFunctions"])];
	const prepared = await prepareModule(buildHostile(name), { memoryBytes: limits.memoryBytes, hostFunctions: asked });
	if (!prepared.ok) throw new Error(`${name}: ${prepared.error.code}: ${prepared.error.message}`);
	return {
		id: `hostile.${name}`,
		version: "1.0.0",
		digest: "sha256:00",
		exports: {},
		config: {},
		...code,
		body: { profile: "wasm", module: prepared.module, wasi: prepared.wasi },
		hostFunctions,
		ungranted,
		limits,
	};
}
