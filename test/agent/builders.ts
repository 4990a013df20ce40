import type { IsolationProfile, Manifest } from "@mortise/sdk/contract";
import type { Repository } from "../../src/agent/index.js";
import type { BundleOrigin, LoadedPlugin, RuntimeDocument } from "../../src/contract/index.js";

/** A repository that was read without problems. */
export function aRepository(wishes: Partial<Repository> = {}): Repository {
	return {
		path: "/srv/agents/one",
		manifest: {
			protocol_version: "v0.1.0",
			agent_capabilities: ["run_tasks"],
			isolation_profile: "wasm",
			state_publication: { target: "file" },
		},
		request: {},
		secrets: [],
		isolation: "wasm",
		state: { target: "file", path: ".living/state.json" },
		...wishes,
	};
}

/** An admitted bundle that provides what is given. */
export function aPlugin(
	id: string,
	provides: Manifest["provides"],
	options: { origin?: BundleOrigin; isolation?: IsolationProfile; runtime?: "wasm" | "esm" } = {},
): LoadedPlugin {
	const { origin = "first-party", isolation = "wasm", runtime = "wasm" } = options;
	const manifest: Manifest = {
		contract: 1,
		id,
		version: "1.0.0",
		description: id,
		runtime,
		entry: "plugin.wasm",
		provides,
	};
	return {
		bundle: { origin, path: `/bundles/${id}`, manifest, files: new Map(), digest: "sha256:0" },
		permissions: { missing: [] },
		limits: { memoryBytes: 1, cpuMs: 1, timeoutMs: 1, outputBytes: 1 },
		isolation,
		config: {},
	};
}

export const aDocument: RuntimeDocument = {
	runtime: "test",
	protocol_versions: ["v0.1"],
	agent_capabilities: ["run_tasks"],
	isolation_profiles: ["wasm", "wasm-js"],
	state_publication_targets: ["file"],
};
