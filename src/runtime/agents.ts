import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import type { JsonObject } from "@mortise/sdk/contract";
import {
	type AdmittedProvider,
	type AgentFailure,
	type AgentSpec,
	admitAgent,
	type Narrowed,
	readRepository,
	resolveAgent,
} from "../agent/index.js";
import { matchDocument } from "../capability/index.js";
import type { LoadedSet, RuntimeDocument } from "../contract/index.js";
import { escapeText } from "../errors.js";
import { makeFolder } from "../make-folder.js";
import type { StatePlace, StateTarget } from "../state/index.js";
import { checkSettings } from "./load.js";
import type { Settings } from "./settings.js";

/** An agent that may start. */
export type AdmittedAgent = {
	readonly ok: true;
	readonly spec: AgentSpec;
	readonly provider: AdmittedProvider;
	readonly narrowed: readonly Narrowed[];
	/** The protocol version the agent was written for, as it is published with its state. */
	readonly protocolVersion: string;
	/** Where its state goes; absent when it is not published. */
	readonly place?: StatePlace;
};
/** Every reason why an agent does not start. */
export type RefusedAgent = { readonly ok: false; readonly failures: readonly AgentFailure[] };

export type AgentDesk = {
	readonly settings: Settings;
	/** Relative paths of the configuration start here. */
	readonly folder: string;
	readonly set: LoadedSet;
	readonly document: RuntimeDocument;
	readonly toolNames: ReadonlySet<string>;
	readonly hasSecret: (name: string) => boolean;
	readonly targets: ReadonlyMap<string, StateTarget>;
	/** Where the state of a config agent goes when it names no path. */
	readonly stateFolder: (key: string) => string;
};

/**
 * Decides whether an agent starts, in one report, before any plugin is opened (rules C6, C8).
 *
 * @param reference an alias of the configuration, or the path of a repository; an alias wins unless it holds a `/`
 * @param cwd relative paths start here
 */
export async function admitReference(
	reference: string,
	cwd: string,
	desk: AgentDesk,
): Promise<AdmittedAgent | RefusedAgent> {
	if (Object.hasOwn(desk.settings.agents, reference)) return admitAlias(reference, desk);
	const path = resolve(cwd, reference);
	const found = await stat(path).catch(() => undefined);
	if (found?.isDirectory() !== true && !/[\\/.]/.test(reference)) return admitAlias(reference, desk);
	return admitRepository(path, desk);
}

async function admitAlias(alias: string, desk: AgentDesk): Promise<AdmittedAgent | RefusedAgent> {
	const resolution = resolveAgent({ config: desk.settings, folder: desk.folder, alias });
	const versions = desk.document.protocol_versions;
	return finish(admitAgent({ ...request(desk), resolution }), versions.at(-1) ?? "v0.0", desk);
}

async function admitRepository(path: string, desk: AgentDesk): Promise<AdmittedAgent | RefusedAgent> {
	const { repository, problems } = await readRepository(path);
	if (repository === undefined) {
		return finish(admitAgent({ ...request(desk), problems }), "v0.0", desk);
	}
	const resolution = resolveAgent({ config: desk.settings, folder: desk.folder, repository });
	const { manifest } = repository;
	return finish(admitAgent({ ...request(desk), resolution, problems, manifest }), versionOf(manifest), desk);
}

function request(desk: AgentDesk) {
	return {
		document: desk.document,
		match: matchDocument,
		hasSecret: desk.hasSecret,
		plugins: desk.set.plugins,
		tools: desk.toolNames,
		nativeMemory: desk.set.nativeMemory,
	};
}

/** What can only be judged once the rest stands: the provider's settings, and whether state can be published. */
async function finish(
	admission: ReturnType<typeof admitAgent>,
	protocolVersion: string,
	desk: AgentDesk,
): Promise<AdmittedAgent | RefusedAgent> {
	if (!admission.ok) return admission;
	const { spec, provider, narrowed } = admission;
	const failures: AgentFailure[] = [];
	const plugin = desk.set.plugins.find((each) => each.bundle.manifest.id === provider.bundle);
	// the agent's own settings for the provider come over those its grant gives for every agent
	const merged: JsonObject = { ...plugin?.config, ...provider.config };
	const wrong = checkSettings(plugin?.bundle.manifest.config, merged);
	if (wrong !== undefined) {
		failures.push({ rule: "provider", message: `the settings for ${escapeText(provider.name)} do not fit: ${wrong}` });
	}
	const place = placeOf(spec, desk);
	// the operator named the place, or the host did: a missing folder is made, as `.living` is in a repository
	if (place !== undefined && spec.origin === "config") await makeFolder(place.root, 0o700).catch(() => undefined);
	const target = spec.state === undefined ? undefined : desk.targets.get(spec.state.target);
	const checked = target === undefined || place === undefined ? undefined : await target.check(place);
	if (checked !== undefined && !checked.ok) {
		const { message, next } = checked.error;
		failures.push({ rule: "state_publication", message, ...(next === undefined ? {} : { fix: next }) });
	}
	if (failures.length > 0) return { ok: false, failures };
	return {
		ok: true,
		spec,
		provider: { ...provider, config: merged },
		narrowed,
		protocolVersion,
		...(place === undefined ? {} : { place }),
	};
}

function placeOf(spec: AgentSpec, desk: AgentDesk): StatePlace | undefined {
	if (spec.state === undefined) return undefined;
	const { path } = spec.state;
	if (spec.origin === "repository") return { root: spec.folder, ...(path === undefined ? {} : { path }) };
	if (path === undefined) return { root: desk.stateFolder(spec.key), path: "state.json" };
	return { root: dirname(path), path: basename(path) };
}

function versionOf(manifest: unknown): string {
	const version = (manifest as { protocol_version?: unknown } | null)?.protocol_version;
	return typeof version === "string" ? version : "v0.0";
}
