import { join } from "node:path";
import { effectiveLimits, effectivePermissions, type GrantStore } from "../broker/index.js";
import { discoverBundles, readBundle, readReceipts, refusedError } from "../bundle/index.js";
import {
	type Config,
	type ErrorReport,
	effectiveIsolation,
	type LoadedPlugin,
	type LoadedSet,
	type ProbedProfile,
	type Problem,
	type RefusedBundle,
	type VerifiedBundle,
} from "../contract/index.js";
import { type ErrorCode, HostError, problemOf } from "../errors.js";
import { compileSchema } from "../json-schema.js";
import type { Pool } from "../pool/index.js";
import { openCacheFile } from "./cache-file.js";
import type { Home } from "./home.js";
import { noEdges } from "./job-edges.js";
import { probeSpecOf } from "./probe-spec.js";

export type LoadOptions = {
	readonly config: Config;
	readonly home: Home;
	readonly grants: GrantStore;
	readonly pool: Pool;
	/** What the probe of this machine said. */
	readonly profiles: readonly ProbedProfile[];
	/** The folder of first-party bundles; absent: none are loaded. */
	readonly firstParty?: string;
	readonly nativeStateTargets: readonly string[];
	/** Changes whenever a probe's answer might: the versions of host and Node. */
	readonly engine: string;
	/** A bundle that is not installed, loaded besides; it takes the place of an installed one of its id. */
	readonly named?: string;
};

/** Which profiles bundles can be run under; `in-process` is for the host's own code. */
const bundleProfiles: readonly string[] = ["wasm", "wasm-js"];

/**
 * From the folders to the loaded set: discover → read → verify → permissions, limits, profile → probe in a worker.
 * A refusal is a value with all its problems; the other bundles load (DESIGN section 4).
 *
 * @throws HostError `receipts.invalid`, `grants.invalid`; for a named bundle `bundle.refused`
 */
export async function loadSet(options: LoadOptions): Promise<LoadedSet> {
	const { config, home } = options;
	const found = await discoverBundles({
		drop: home.bundles,
		...(options.firstParty === undefined ? {} : { firstParty: options.firstParty }),
		receipts: await readReceipts(home.folder),
		compile: compileSchema,
	});
	const named = options.named === undefined ? undefined : await readNamed(options.named);
	const bundles = [
		...found.bundles.filter((bundle) => bundle.manifest.id !== named?.manifest.id),
		...(named === undefined ? [] : [named]),
	].sort((a, b) => (a.manifest.id < b.manifest.id ? -1 : 1));
	const probes = await openCacheFile(join(home.cache, "probes.json"), (value) => value === true);
	const admitted = await Promise.all(bundles.map((bundle) => admit(bundle, options, probes)));
	await probes.save();
	const plugins = admitted.flatMap((each) => (each.ok ? [each.plugin] : []));
	return {
		plugins,
		refused: [...found.refused, ...admitted.flatMap((each) => (each.ok ? [] : [each.refused]))],
		notes: [...found.notes, ...plugins.flatMap((plugin) => unlinked(plugin.bundle))],
		nativeMemory: config.native?.memory === false ? [] : ["sqlite"],
		nativeStateTargets: options.nativeStateTargets,
	};
}

async function readNamed(path: string): Promise<VerifiedBundle> {
	const read = await readBundle(path, { origin: "named", compile: compileSchema });
	if (read.ok) return read.bundle;
	throw refusedError(read.refused);
}

type Admitted =
	| { readonly ok: true; readonly plugin: LoadedPlugin }
	| { readonly ok: false; readonly refused: RefusedBundle };

async function admit(
	bundle: VerifiedBundle,
	options: LoadOptions,
	probes: Awaited<ReturnType<typeof openCacheFile<true>>>,
): Promise<Admitted> {
	const { manifest, digest, origin } = bundle;
	const { id } = manifest;
	const file = join(bundle.path, "plugin.yaml");
	const problems: Problem[] = [];
	const grant = options.grants.grantOf({ id, origin, digest });
	const limits = effectiveLimits(manifest.limits, grant?.limits, options.config.limits);
	const isolation = effectiveIsolation(manifest.runtime, [manifest.isolation, grant?.isolation ?? "wasm"]);
	if (!isProvided(isolation, options.profiles)) {
		problems.push(problemOf("load.not_provided", { file }, { id, profile: isolation }));
	}
	if (options.config.bundles?.require_signature === "require" && origin !== "first-party") {
		problems.push(problemOf("load.unsigned", { file }, { id }));
	}
	const detail = checkSettings(manifest.config, grant?.config ?? {});
	if (grant?.config !== undefined && detail !== undefined) {
		problems.push(problemOf("load.config_invalid", { file }, { id, detail }));
	}
	const plugin: LoadedPlugin = {
		bundle,
		permissions: effectivePermissions(manifest, grant),
		limits,
		isolation,
		config: grant?.config ?? {},
	};
	if (problems.length === 0) {
		const key = `${digest}:${limits.memoryBytes}:${options.engine}`;
		const error = probes.get(key) === true ? undefined : await probe(bundle, limits, options.pool);
		if (error === undefined) probes.set(key, true);
		else problems.push(placed(error, file));
	}
	if (problems.length === 0) return { ok: true, plugin };
	const { version, runtime } = manifest;
	const kinds = kindsOf(bundle);
	return { ok: false, refused: { path: bundle.path, id, version, runtime, digest, kinds, state: "refused", problems } };
}

async function probe(
	bundle: VerifiedBundle,
	limits: LoadedPlugin["limits"],
	pool: Pool,
): Promise<ErrorReport | undefined> {
	const spec = probeSpecOf(bundle, limits);
	const result = await pool
		.run({ kind: "probe", spec }, noEdges, { timeoutMs: limits.timeoutMs + probeGraceMs })
		.catch((error: unknown) => ({ ok: false as const, error: errorOf(error) }));
	return result.ok ? undefined : result.error;
}

/** How much longer than its own limits a bundle may take to be tried, in milliseconds. */
const probeGraceMs = 5000;

function errorOf(error: unknown): ErrorReport {
	if (error instanceof HostError) return { code: error.code, owner: "plugin", message: error.message };
	throw error;
}

/** Settings against a bundle's schema: what is wrong, or undefined. A bundle without a schema takes no settings. */
export function checkSettings(schema: unknown, settings: { readonly [key: string]: unknown }): string | undefined {
	if (schema === undefined) {
		return Object.keys(settings).length === 0
			? undefined
			: `it takes no settings, but got ${Object.keys(settings).join(", ")}`;
	}
	const compiled = compileSchema(schema);
	if (!compiled.ok) return compiled.detail;
	const wrong = compiled.check(settings);
	return wrong.length === 0 ? undefined : wrong.join("; ");
}

function isProvided(profile: string, profiles: readonly ProbedProfile[]): boolean {
	return bundleProfiles.includes(profile) && profiles.some((each) => each.profile === profile && each.provided);
}

/** The kinds of capability a bundle provides. */
export function kindsOf({ manifest }: Pick<VerifiedBundle, "manifest">): readonly string[] {
	const { tools = [], providers = [], memory = [], channels = [] } = manifest.provides;
	const all = [
		["channel", channels],
		["memory", memory],
		["provider", providers],
		["tool", tools],
	] as const;
	return all.filter(([, list]) => list.length > 0).map(([kind]) => kind);
}

/** Permissions a manifest may ask for that this version does not link yet. */
function unlinked(bundle: VerifiedBundle): Problem[] {
	const { files, tools } = bundle.manifest.permissions ?? {};
	const asked = [
		...(files === undefined ? [] : ["files"]),
		...(tools === undefined || tools.length === 0 ? [] : ["tools"]),
	];
	const file = join(bundle.path, "plugin.yaml");
	return asked.map((permission) =>
		problemOf(
			"load.not_linked",
			{ file, pointer: `/permissions/${permission}` },
			{ id: bundle.manifest.id, permission },
		),
	);
}

function placed(error: ErrorReport, file: string): Problem {
	return {
		code: error.code as ErrorCode,
		file,
		line: 0,
		column: 0,
		pointer: "",
		message: error.message,
		...(error.next === undefined ? {} : { fix: error.next }),
	};
}
