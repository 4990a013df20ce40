import { effectiveIsolation, type LoadedPlugin, type Problem, type RuntimeDocument } from "../contract/index.js";
import { escapeText } from "../errors.js";
import { type AgentFailure, type AgentSpec, allowsTool, type Narrowed, type Resolution } from "./spec.js";

/** Compares a document with a manifest, whatever that is. Must not throw; every failing rule is listed (rule C5). */
export type MatchDocument = (
	document: RuntimeDocument,
	manifest: unknown,
) => { readonly match: boolean; readonly failures: readonly { readonly rule: string; readonly message: string }[] };

export type AdmitRequest = {
	/** From `resolveAgent`; absent when the repository could not be read at all. */
	readonly resolution?: Resolution;
	/** From `readRepository`. */
	readonly problems?: readonly Problem[];
	/** The repository's manifest as it was read. Absent for an alias, whose protocol fields nobody judges. */
	readonly manifest?: unknown;
	readonly document: RuntimeDocument;
	readonly match: MatchDocument;
	/** Whether a secret of this name is there. The value is never asked for (rule C8). */
	readonly hasSecret: (name: string) => boolean;
	readonly plugins: readonly LoadedPlugin[];
	/** Names of the tools in the registry: the winners. */
	readonly tools: ReadonlySet<string>;
	/** Memory stores the host brings itself. */
	readonly nativeMemory: readonly string[];
};

/** The provider a turn calls, and the bundle behind it. */
export type AdmittedProvider = AgentSpec["provider"] & { readonly bundle: string; readonly model: string };

export type Admission =
	| {
			readonly ok: true;
			readonly spec: AgentSpec;
			readonly provider: AdmittedProvider;
			/** Wishes that were cut; what the agent goes without although the operator's default names it. */
			readonly narrowed: readonly Narrowed[];
	  }
	| { readonly ok: false; readonly failures: readonly AgentFailure[] };

/**
 * Decides whether an agent starts, before any plugin is opened (rule C6), in one report: problems of the repository
 * (`repository`), the failing matching rules (C5), what it asks for beyond the operator's bounds, what is not loaded
 * (`provider`, `tools`, `memory`, `state_publication`), missing secrets by name (`secrets`, C8) and plugins whose
 * effective profile this host does not provide (`isolation_profile`). Pure.
 */
export function admitAgent(request: AdmitRequest): Admission {
	const failures: AgentFailure[] = (request.problems ?? []).map(failureOfProblem);
	if ("manifest" in request) failures.push(...request.match(request.document, request.manifest).failures);
	const resolution = request.resolution;
	failures.push(...(resolution?.failures ?? []));
	const spec = resolution?.spec;
	if (spec === undefined) {
		// a refusal always has a reason
		const nothing = { rule: "agent", message: "neither a repository nor an agent was given" };
		return { ok: false, failures: failures.length > 0 ? failures : [nothing] };
	}
	const provider = findProvider(spec, request.plugins);
	// one answer a cause: a provider that is not allowed is not also reported as not loaded
	if (!provider.ok && !hasRule(failures, "provider")) failures.push(provider.failure);
	failures.push(...missingTools(spec, request.tools));
	const memory = findMemory(spec, request);
	if (memory.failure !== undefined) failures.push(memory.failure);
	failures.push(...missingSecrets(spec, request.hasSecret));
	if (!hasRule(failures, "state_publication")) failures.push(...missingTarget(spec, request.document));
	if (!hasRule(failures, "isolation_profile")) failures.push(...unprovided(spec, request));
	if (failures.length > 0 || !provider.ok) return { ok: false, failures };
	const { memory: wanted, ...rest } = spec;
	return {
		ok: true,
		spec: memory.loaded && wanted !== undefined ? { ...rest, memory: wanted } : rest,
		provider: provider.provider,
		narrowed: [
			...(resolution?.narrowed ?? []),
			...(memory.loaded || wanted === undefined ? [] : [{ setting: "memory", asked: wanted.name, given: "none" }]),
		],
	};
}

function hasRule(failures: readonly AgentFailure[], rule: string): boolean {
	return failures.some((failure) => failure.rule === rule);
}

function failureOfProblem(problem: Problem): AgentFailure {
	const place = problem.line === 0 ? problem.file : `${problem.file}:${problem.line}:${problem.column}`;
	const pointer = problem.pointer === "" ? "" : ` ${problem.pointer}`;
	return {
		rule: "repository",
		message: `${escapeText(place)}${escapeText(pointer)}: ${problem.message}`,
		...(problem.fix === undefined ? {} : { fix: problem.fix }),
	};
}

type Found =
	| { readonly ok: true; readonly provider: AdmittedProvider }
	| { readonly ok: false; readonly failure: AgentFailure };

/** A provider's name is looked for in first-party bundles first; two others of one name are not chosen between. */
function findProvider(spec: AgentSpec, plugins: readonly LoadedPlugin[]): Found {
	const { name } = spec.provider;
	const offers = plugins.flatMap((plugin) =>
		(plugin.bundle.manifest.provides.providers ?? [])
			.filter((provider) => provider.name === name)
			.map((provider) => ({ plugin, provider })),
	);
	const own = offers.filter(({ plugin }) => plugin.bundle.origin === "first-party");
	const [found, second] = own.length > 0 ? own : offers;
	const refuse = (message: string, fix: string): Found => ({ ok: false, failure: { rule: "provider", message, fix } });
	if (found === undefined) {
		const all = plugins.flatMap(({ bundle }) => (bundle.manifest.provides.providers ?? []).map((each) => each.name));
		const loaded = [...new Set(all)].sort().join(", ") || "none";
		return refuse(`the provider ${name} is not loaded; loaded: ${loaded}`, "Install a bundle that provides it.");
	}
	if (second !== undefined) {
		const bundles = `${found.plugin.bundle.manifest.id} and ${second.plugin.bundle.manifest.id}`;
		return refuse(`the provider ${name} comes from ${bundles}`, "Disable one of the bundles.");
	}
	const model = spec.provider.model ?? found.provider.models?.[0];
	if (model === undefined)
		return refuse(`no model is named for the provider ${name}`, `Name one: { name: ${name}, model: … }.`);
	return { ok: true, provider: { ...spec.provider, model, bundle: found.plugin.bundle.manifest.id } };
}

function missingTools(spec: AgentSpec, loaded: ReadonlySet<string>): AgentFailure[] {
	const missing = spec.tools.asked.filter((name) => !loaded.has(name));
	if (missing.length === 0) return [];
	const fix = "Run mortise why TOOL for each, or take it out.";
	return [{ rule: "tools", message: `tools that are not loaded: ${missing.join(", ")}`, fix }];
}

function findMemory(
	spec: AgentSpec,
	request: AdmitRequest,
): { readonly loaded: boolean; readonly failure?: AgentFailure } {
	if (spec.memory === undefined) return { loaded: false };
	const { name, asked } = spec.memory;
	const offered = request.plugins.flatMap(({ bundle }) =>
		(bundle.manifest.provides.memory ?? []).map((each) => each.name),
	);
	const all = [...new Set([...request.nativeMemory, ...offered])];
	if (all.includes(name)) return { loaded: true };
	if (!asked) return { loaded: false };
	const message = `the memory ${name} is not loaded; loaded: ${all.sort().join(", ") || "none"}`;
	return {
		loaded: false,
		failure: { rule: "memory", message, fix: "Install a bundle that provides it, or take it out." },
	};
}

function missingSecrets(spec: AgentSpec, hasSecret: (name: string) => boolean): AgentFailure[] {
	const missing = spec.secrets.filter((name) => !hasSecret(name));
	if (missing.length === 0) return [];
	const fix = missing.map((name) => `mortise secret set ${name}`).join("; ");
	return [{ rule: "secrets", message: `secrets that are not set: ${missing.join(", ")}`, fix: `Run ${fix}.` }];
}

function missingTarget(spec: AgentSpec, document: RuntimeDocument): AgentFailure[] {
	const target = spec.state?.target;
	if (target === undefined || document.state_publication_targets.includes(target)) return [];
	const message = `the state target ${escapeText(target)} is not offered; offered: ${document.state_publication_targets.join(", ")}`;
	return [{ rule: "state_publication", message }];
}

/** Plugins the agent's turns would use whose effective profile is not in the document: never a silent downgrade. */
function unprovided(spec: AgentSpec, request: AdmitRequest): AgentFailure[] {
	const offered = request.document.isolation_profiles;
	return request.plugins
		.filter((plugin) => isUsed(spec, plugin))
		.flatMap((plugin) => {
			const { id, runtime } = plugin.bundle.manifest;
			const effective = effectiveIsolation(runtime, [plugin.isolation, spec.isolation]);
			if (offered.includes(effective)) return [];
			const message = `the bundle ${id} would have to run under ${effective}, which is not provided on this host; provided: ${offered.join(", ")}`;
			return [{ rule: "isolation_profile", message, fix: "Run mortise doctor to see what is missing." }];
		});
}

function isUsed(spec: AgentSpec, plugin: LoadedPlugin): boolean {
	const { provides } = plugin.bundle.manifest;
	return (
		(provides.providers ?? []).some((each) => each.name === spec.provider.name) ||
		(provides.memory ?? []).some((each) => each.name === spec.memory?.name) ||
		(provides.tools ?? []).some((each) => allowsTool(spec.tools, each.name)) ||
		(provides.state_targets ?? []).includes(spec.state?.target ?? "")
	);
}
