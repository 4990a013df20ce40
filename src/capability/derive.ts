import type { IsolationProfile } from "@mortise/sdk/contract";
import {
	type LoadedPlugin,
	type LoadedSet,
	RuntimeDocument,
	type ToolDrop,
	type ToolHolder,
	type VerifiedBundle,
} from "../contract/index.js";
import { HostError } from "../errors.js";
import type { DescribedProfile } from "../isolation/index.js";
import { checkValue, faultText } from "../schema-check.js";
import { sortRecords, sortTexts } from "./order.js";
import { compareVersions } from "./version.js";

/** A tool that has its name. A `PlannedTool` fits; only these members are read. */
export type DocumentTool = ToolHolder & { readonly name: string };
/** What of a loaded plugin a document is derived from: nothing of its files, permissions or settings. */
export type DocumentPlugin = Pick<LoadedPlugin, "isolation"> & {
	readonly bundle: Pick<VerifiedBundle, "digest" | "manifest">;
};
/** What a document is derived from. A `LoadedSet` fits `set`. */
export type DocumentInput = {
	readonly name: string;
	readonly protocolVersions: readonly string[];
	readonly set: Pick<LoadedSet, "nativeMemory" | "nativeStateTargets"> & {
		readonly plugins: readonly DocumentPlugin[];
	};
	/** The tools that won their names, native ones included. */
	readonly tools: readonly DocumentTool[];
	readonly drops: readonly ToolDrop[];
	readonly isolation: readonly DescribedProfile[];
};

/**
 * The capabilities that only the loaded set itself can bring. A bundle that lists one under
 * `provides.agent_capabilities` does not bring it: removing the last memory source removes `remember` (rule C10).
 */
export const derivedCapabilities = ["converse", "publish_state", "remember", "run_tasks", "use_tools"] as const;

/**
 * The capability document of a loaded set (rules C2, C10 to C12). Pure: no clock, no files; the order in which bundles
 * were loaded changes nothing. Nothing of a path, secret or config value goes in (rule C11).
 *
 * Mapping: a provider → `run_tasks` · a state target → `publish_state` · a tool that has its name → `use_tools` · a memory source,
 * bundle or native → `remember` · a channel, which the command line is not → `converse` · more from
 * `provides.agent_capabilities`.
 *
 * @throws HostError `document.underivable` when the result would be invalid, such as with no protocol version
 */
export function deriveDocument(input: DocumentInput): RuntimeDocument {
	const { set } = input;
	const manifests = set.plugins.map((plugin) => plugin.bundle.manifest.provides);
	const targets = sortTexts([...set.nativeStateTargets, ...manifests.flatMap((each) => each.state_targets ?? [])]);
	const profiles = input.isolation.filter((each) => each.provided);
	const derived: Record<(typeof derivedCapabilities)[number], boolean> = {
		run_tasks: manifests.some((each) => (each.providers ?? []).length > 0),
		publish_state: targets.length > 0,
		use_tools: input.tools.length > 0,
		remember: set.nativeMemory.length > 0 || manifests.some((each) => (each.memory ?? []).length > 0),
		converse: manifests.some((each) => (each.channels ?? []).length > 0),
	};
	const brought = manifests
		.flatMap((each) => each.agent_capabilities ?? [])
		.filter((each) => !Object.hasOwn(derived, each));
	const document: RuntimeDocument = {
		runtime: input.name,
		protocol_versions: [...new Set(input.protocolVersions)].sort(compareVersions),
		agent_capabilities: sortTexts([...derivedCapabilities.filter((each) => derived[each]), ...brought]),
		isolation_profiles: sortTexts(profiles.map((each) => each.profile)),
		state_publication_targets: targets,
		"x-dropped-tools": sortRecords(input.drops.map(droppedEntry), nameOf),
		"x-isolation": sortRecords(profiles.map(isolationEntry), (each) => each.profile),
		"x-sources": sortRecords([...set.plugins.flatMap(pluginSources), ...set.nativeMemory.map(nativeMemory)], nameOf),
		"x-state-targets": stateTargets(set),
		"x-tools": sortRecords(input.tools.map(toolEntry), nameOf),
	};
	const checked = checkValue(RuntimeDocument, document);
	if (checked.ok) return document;
	throw new HostError("document.underivable", { detail: faultText(checked.faults) });
}

function droppedEntry(drop: ToolDrop) {
	return { ...toolEntry(drop), kept_by: providerEntry(drop.keptBy), rule: drop.rule };
}

function toolEntry(tool: DocumentTool) {
	return { name: tool.name, ...providerEntry(tool) };
}

// members are named one by one: whatever else a caller's value carries stays out of a public document
function providerEntry(provider: ToolHolder) {
	return { origin: provider.origin, ...(provider.bundle === undefined ? {} : { bundle: provider.bundle }) };
}

function isolationEntry(described: DescribedProfile) {
	return {
		profile: described.profile,
		strength: described.strength,
		stops: sortTexts(described.stops),
		does_not_stop: sortTexts(described.doesNotStop),
	};
}

type Source = {
	readonly kind: "channel" | "memory" | "provider" | "tool";
	readonly name: string;
	readonly origin: "native" | "plugin";
	readonly isolation: IsolationProfile;
	readonly bundle?: string;
	readonly version?: string;
	readonly runtime?: "wasm" | "esm";
	readonly digest?: string;
	/** `null`: no signature was checked. */
	readonly signer?: null;
};

/** One entry for each provider, memory store and channel of a bundle, and one for all its tools, named like the bundle. */
function pluginSources(plugin: DocumentPlugin): Source[] {
	const { manifest, digest } = plugin.bundle;
	const { provides } = manifest;
	const entry = (kind: Source["kind"], name: string): Source => ({
		kind,
		name,
		origin: "plugin",
		bundle: manifest.id,
		version: manifest.version,
		runtime: manifest.runtime,
		digest,
		isolation: plugin.isolation,
		signer: null,
	});
	return [
		...(provides.providers ?? []).map((each) => entry("provider", each.name)),
		...(provides.memory ?? []).map((each) => entry("memory", each.name)),
		...(provides.channels ?? []).map((each) => entry("channel", each.name)),
		...((provides.tools ?? []).length > 0 ? [entry("tool", manifest.id)] : []),
	];
}

function nativeMemory(name: string): Source {
	return { kind: "memory", name, origin: "native", isolation: "in-process" };
}

function stateTargets(set: DocumentInput["set"]) {
	const native = set.nativeStateTargets.map((name) => ({ name, origin: "native" }));
	const plugins = set.plugins.flatMap((plugin) =>
		(plugin.bundle.manifest.provides.state_targets ?? []).map((name) => ({
			name,
			origin: "plugin",
			bundle: plugin.bundle.manifest.id,
		})),
	);
	return sortRecords([...native, ...plugins], nameOf);
}

function nameOf(named: { readonly name: string }): string {
	return named.name;
}
