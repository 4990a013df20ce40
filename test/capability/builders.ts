import type { IsolationProfile, Manifest } from "@mortise/sdk/contract";
import type { DocumentInput } from "../../src/capability/index.js";
import type { LoadedPlugin } from "../../src/contract/index.js";
import type { DescribedProfile } from "../../src/isolation/index.js";

/** A loaded plugin that holds things a public document must not show. */
export function aPlugin(manifest: Partial<Manifest>): LoadedPlugin {
	return {
		bundle: {
			origin: "dropped",
			path: "/home/someone/bundles/x",
			manifest: {
				contract: 1,
				id: "acme.text",
				version: "1.0.0",
				description: "canary description",
				runtime: "wasm",
				entry: "plugin.wasm",
				provides: {},
				...manifest,
			},
			files: new Map(),
			digest: `sha256:${"0".repeat(64)}`,
		},
		permissions: {
			http: { hosts: ["api.acme.test"], granted: ["api.acme.test"] },
			secrets: [{ name: "MODEL_KEY", header: "authorization", host: "api.acme.test" }],
			missing: ["secret:MODEL_KEY"],
		},
		limits: { memoryBytes: 1, cpuMs: 1, timeoutMs: 1, outputBytes: 1 },
		isolation: manifest.runtime === "esm" ? "wasm-js" : "wasm",
		config: { token: "canary" },
	};
}

export function aProfile(profile: IsolationProfile, provided = true): DescribedProfile {
	return {
		profile,
		provided,
		strength: "language",
		stops: ["time", "memory"],
		doesNotStop: ["waiting"],
		...(provided ? {} : { reason: "/usr/bin/bwrap is missing" }),
	};
}

/** What a runtime with two bundles, a native memory store and a dropped tool derives its document from. */
export function anInput(): DocumentInput {
	const tool = (name: string) => ({ name, description: "x" });
	return {
		name: "example",
		protocolVersions: ["v1.0", "v0.9", "v0.10"],
		set: {
			plugins: [
				aPlugin({ provides: { tools: [tool("upper"), tool("memory_store")] } }),
				aPlugin({
					id: "offline",
					runtime: "esm",
					provides: { providers: [{ name: "offline" }, { name: "echo" }], agent_capabilities: ["plan", "a_thing"] },
				}),
				aPlugin({ id: "bus", provides: { state_targets: ["acme-bus"], memory: [{ name: "notes" }] } }),
			],
			nativeMemory: ["sqlite"],
			nativeStateTargets: ["file", "control-process"],
		},
		tools: [
			{ name: "upper", origin: "plugin", bundle: "acme.text" },
			{ name: "memory_store", origin: "native" },
			{ name: "file_read", origin: "native" },
		],
		drops: [{ name: "memory_store", origin: "plugin", bundle: "acme.text", keptBy: { origin: "native" }, rule: "R69" }],
		isolation: [aProfile("wasm"), aProfile("wasm-js"), aProfile("in-process"), aProfile("sandbox-process", false)],
	};
}
