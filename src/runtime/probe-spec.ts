import { type HostFunction, type Manifest, ungatedHostFunctions } from "@mortise/sdk/contract";
import type { EffectiveLimits, PluginCode, VerifiedBundle } from "../contract/index.js";
import type { ProbeSpec } from "../pool/index.js";

/** What a worker needs to try a bundle, or to prepare its code. */
export function probeSpecOf(bundle: VerifiedBundle, limits: EffectiveLimits): ProbeSpec {
	const { manifest } = bundle;
	const entry = bundle.files.get(manifest.entry) ?? new Uint8Array();
	return {
		id: manifest.id,
		version: manifest.version,
		digest: bundle.digest,
		body:
			manifest.runtime === "wasm"
				? { runtime: "wasm", bytes: entry }
				: { runtime: "esm", entry: manifest.entry, sources: sourcesOf(bundle) },
		exports: exportsOf(manifest),
		door: needsDoor(manifest),
		asked: askedFunctions(manifest),
		limits,
	};
}

/** Tools that are plain Extism exports. */
export function exportsOf(manifest: Manifest): PluginCode["exports"] {
	const tools = (manifest.provides.tools ?? []).flatMap((tool) =>
		tool.export === undefined
			? []
			: [[tool.name, { export: tool.export, input: tool.input === "text" ? "text" : "json" }] as const],
	);
	return Object.fromEntries(tools);
}

/** Host functions a manifest asks for, granted or not, with those that need no grant. */
export function askedFunctions(manifest: Manifest): readonly HostFunction[] {
	const { http, secrets, kv } = manifest.permissions ?? {};
	const asked: HostFunction[] = [...ungatedHostFunctions];
	if (http !== undefined) asked.push("http", "http_read");
	if (secrets !== undefined && secrets.length > 0) asked.push("secret");
	if (kv === true) asked.push("kv");
	if (mayEmit(manifest)) asked.push("emit");
	return asked;
}

/** Whether a bundle's answers may come in pieces: a provider's may. No grant is needed. */
export function mayEmit(manifest: Manifest): boolean {
	return (manifest.provides.providers ?? []).length > 0;
}

function needsDoor(manifest: Manifest): boolean {
	const { tools = [], providers = [], memory = [], channels = [], state_targets = [] } = manifest.provides;
	if (tools.some((tool) => tool.export === undefined)) return true;
	return providers.length + memory.length + channels.length + state_targets.length > 0;
}

/** Every module of the bundle as text; the bytes verified are the text run. */
function sourcesOf(bundle: VerifiedBundle): { readonly [path: string]: string } {
	const decoder = new TextDecoder("utf-8", { fatal: true });
	const sources: Record<string, string> = {};
	for (const [path, bytes] of bundle.files) {
		// a file that is no text can only matter when it is imported, and then it is missing
		if (!/\.m?js$/.test(path)) continue;
		try {
			sources[path] = decoder.decode(bytes);
		} catch {}
	}
	return sources;
}
