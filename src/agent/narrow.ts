import { createHash } from "node:crypto";
import { basename, resolve } from "node:path";
import type { IsolationProfile, JsonObject } from "@mortise/sdk/contract";
import ms from "ms";
import {
	type AgentLimits,
	type AgentSettings,
	type Config,
	compareIsolation,
	type PolicySettings,
} from "../contract/index.js";
import { escapeText } from "../errors.js";
import { matchesGlob } from "./glob.js";
import type { Repository } from "./repository.js";
import { type AgentFailure, type AgentSpec, allowsTool, type Narrowed, type Resolution } from "./spec.js";

/** In force where the operator says nothing; for a repository also the ceiling. A timeout is in milliseconds. */
export const defaultLimits = { turns: 100, iterations: 10, timeoutMs: 60_000 } as const;
/** The longest a turn may be given, in milliseconds: a day. */
export const maxTimeoutMs = 86_400_000;
/** Taken when neither the operator nor the agent names a provider. */
export const defaultProvider = "offline";

type Defaults = NonNullable<NonNullable<Config["repositories"]>["defaults"]>;

/**
 * Settles what an agent may be. Pure.
 *
 * For a repository: what the operator's `repositories.defaults` allow and the repository asks for (contract/shapes,
 * "Agent manifest"). An absent list asks for all that is allowed, an empty one for nothing. Names beyond what is
 * allowed are failures, all of them at once, with the rules `repository`, `provider`, `tools`, `memory`, `secrets`,
 * `state_publication`; numbers beyond are cut and said so in `narrowed`. The isolation floor is the higher of the two.
 *
 * For an alias: the operator's settings as they stand; failure `agent` when there is none of that name.
 *
 * @param request.config with the embedded default filled in
 * @param request.folder the real path of the configuration's folder
 */
export function resolveAgent(
	request: { readonly config: Config; readonly folder: string } & (
		| { readonly alias: string }
		| { readonly repository: Repository }
	),
): Resolution {
	return "alias" in request
		? resolveAlias(request.config, request.folder, request.alias)
		: resolveRepository(request.config, request.folder, request.repository);
}

/** Whether `repositories.allow` lets a repository run. Absent: any that the operator names. Empty: none. */
export function isRepositoryAllowed(config: Config, folder: string, realPath: string): boolean {
	const allow = config.repositories?.allow;
	return allow === undefined || allow.some((pattern) => matchesGlob(pattern, folder, realPath));
}

function resolveAlias(config: Config, folder: string, alias: string): Resolution {
	const agents = config.agents ?? {};
	const settings = Object.hasOwn(agents, alias) ? agents[alias] : undefined;
	if (settings === undefined) {
		const known = Object.keys(agents).sort().join(", ") || "none";
		const message = `there is no agent ${escapeText(alias)}; configured: ${known}`;
		return { failures: [{ rule: "agent", message, fix: "Name it under agents in mortise.yaml." }], narrowed: [] };
	}
	const { allow, deny = [] } = settings.tools ?? {};
	const spec: AgentSpec = {
		...settled(settings, folder),
		key: alias,
		name: alias,
		origin: "config",
		folder,
		provider: providerOf(settings),
		instructions: operatorInstructions(settings),
		tools: {
			...(allow === undefined ? {} : { allow }),
			deny,
			asked: (allow ?? []).filter((name) => !deny.includes(name)),
		},
		...(settings.memory === undefined ? {} : { memory: { name: settings.memory, asked: true } }),
		...(settings.state === undefined
			? {}
			: {
					state: {
						target: settings.state.target,
						...(settings.state.path === undefined ? {} : { path: resolve(folder, settings.state.path) }),
					},
				}),
		secrets: settings.secrets ?? [],
		limits: operatorLimits(settings.limits),
	};
	return { spec, failures: [], narrowed: [] };
}

function resolveRepository(config: Config, folder: string, repository: Repository): Resolution {
	const defaults: Defaults = config.repositories?.defaults ?? {};
	const { request } = repository;
	const failures: AgentFailure[] = [];
	const narrowed: Narrowed[] = [];
	if (!isRepositoryAllowed(config, folder, repository.path)) {
		failures.push({
			rule: "repository",
			message: `${escapeText(repository.path)} is under none of the operator's repositories.allow`,
			fix: "Add its folder to repositories.allow in mortise.yaml.",
		});
	}
	const provider = chooseProvider(defaults, request.provider, failures);
	const tools = chooseTools(defaults, request.tools, failures);
	const memory = chooseMemory(defaults, request.memory, failures);
	const secrets = chooseSecrets(defaults, repository.secrets, failures);
	const isolation = highest(defaults.isolation, repository.isolation);
	const state = chooseState(defaults, repository.state, failures);
	const spec: AgentSpec = {
		...settled(defaults, folder),
		key: `repo:${createHash("sha256").update(repository.path).digest("hex").slice(0, 32)}`,
		name: basename(repository.path),
		origin: "repository",
		folder: repository.path,
		provider,
		instructions: [
			...operatorInstructions(defaults),
			...(repository.instructions === undefined
				? []
				: [{ from: "repository" as const, text: repository.instructions }]),
		],
		tools,
		...(memory === undefined ? {} : { memory }),
		...(isolation === undefined ? {} : { isolation }),
		...(state === undefined ? {} : { state }),
		secrets,
		limits: narrowLimits(defaults.limits, request.limits, narrowed),
	};
	return { spec, failures, narrowed };
}

function settled(settings: AgentSettings, folder: string): Pick<AgentSpec, "policy" | "isolation"> {
	return {
		policy: policyOf(settings.policy, folder),
		...(settings.isolation === undefined ? {} : { isolation: settings.isolation }),
	};
}

function policyOf(policy: PolicySettings | undefined, folder: string): AgentSpec["policy"] {
	return {
		autonomy: policy?.autonomy ?? "supervised",
		alwaysAsk: policy?.always_ask ?? [],
		autoApprove: policy?.auto_approve ?? [],
		...(policy?.workspace === undefined ? {} : { workspace: resolve(folder, policy.workspace) }),
	};
}

function operatorInstructions(settings: AgentSettings): AgentSpec["instructions"] {
	return settings.instructions === undefined ? [] : [{ from: "operator", text: settings.instructions }];
}

function providerOf(settings: AgentSettings): AgentSpec["provider"] {
	const given = settings.provider ?? defaultProvider;
	if (typeof given === "string") return { name: given, config: {} };
	const { name, model, ...config } = given;
	return { name, ...(model === undefined ? {} : { model }), config: config as JsonObject };
}

function chooseProvider(
	defaults: Defaults,
	asked: Repository["request"]["provider"],
	failures: AgentFailure[],
): AgentSpec["provider"] {
	const own = defaults.provider === undefined ? undefined : providerOf(defaults);
	const anyLoaded = own === undefined && defaults.providers === undefined;
	const allowed = [...(own === undefined ? [] : [own.name]), ...(defaults.providers ?? [])];
	const fallback = own ?? { name: allowed[0] ?? defaultProvider, config: {} };
	if (!anyLoaded && allowed.length === 0) {
		failures.push(
			beyond("provider", "the operator allows repositories no provider", "repositories.defaults.providers"),
		);
		return fallback;
	}
	if (asked === undefined) return fallback;
	const { name, model } = typeof asked === "string" ? { name: asked, model: undefined } : asked;
	if (!anyLoaded && !allowed.includes(name)) {
		const message = `asks for the provider ${name}; allowed: ${allowed.join(", ")}`;
		failures.push(beyond("provider", message, "repositories.defaults.providers"));
		return fallback;
	}
	if (own === undefined || own.name !== name) return { name, ...(model === undefined ? {} : { model }), config: {} };
	if (own.model !== undefined && model !== undefined && model !== own.model) {
		const message = `asks for the model ${escapeText(model)} of ${name}; allowed: ${own.model}`;
		failures.push(beyond("provider", message, "repositories.defaults.provider.model"));
		return own;
	}
	return model === undefined ? own : { ...own, model };
}

function chooseTools(
	defaults: Defaults,
	asked: readonly string[] | undefined,
	failures: AgentFailure[],
): AgentSpec["tools"] {
	const { allow, deny = [] } = defaults.tools ?? {};
	const operator = { ...(allow === undefined ? {} : { allow }), deny, asked: [] };
	if (asked === undefined) return operator;
	const refused = asked.filter((name) => !allowsTool(operator, name));
	if (refused.length > 0) {
		const message = `asks for tools the operator does not allow: ${refused.join(", ")}`;
		failures.push(beyond("tools", message, "repositories.defaults.tools"));
	}
	const kept = [...new Set(asked.filter((name) => allowsTool(operator, name)))];
	return { allow: kept, deny, asked: kept };
}

function chooseMemory(defaults: Defaults, asked: string | undefined, failures: AgentFailure[]): AgentSpec["memory"] {
	const allowed = defaults.memory;
	if (asked !== undefined && asked !== allowed) {
		const message = `asks for the memory ${asked}; allowed: ${allowed ?? "none"}`;
		failures.push(beyond("memory", message, "repositories.defaults.memory"));
	}
	return allowed === undefined ? undefined : { name: allowed, asked: asked === allowed };
}

function chooseSecrets(defaults: Defaults, asked: readonly string[], failures: AgentFailure[]): readonly string[] {
	const allowed = defaults.secrets;
	if (allowed === undefined) return asked;
	const refused = asked.filter((name) => !allowed.includes(name));
	if (refused.length > 0) {
		const message = `names secrets the operator does not allow: ${refused.join(", ")}`;
		failures.push(beyond("secrets", message, "repositories.defaults.secrets"));
	}
	// whether a secret that is not allowed exists is not said
	return asked.filter((name) => allowed.includes(name));
}

function chooseState(defaults: Defaults, asked: Repository["state"], failures: AgentFailure[]): AgentSpec["state"] {
	const allowed = defaults.state?.target;
	if (asked.target === undefined) return undefined;
	if (allowed !== undefined && asked.target !== allowed) {
		const message = `asks for the state target ${escapeText(asked.target)}; allowed: ${allowed}`;
		failures.push(beyond("state_publication", message, "repositories.defaults.state"));
		return undefined;
	}
	return { target: asked.target, ...(asked.path === undefined ? {} : { path: asked.path }) };
}

function operatorLimits(limits: AgentLimits | undefined): AgentSpec["limits"] {
	return {
		turns: limits?.turns ?? defaultLimits.turns,
		iterations: limits?.iterations ?? defaultLimits.iterations,
		timeoutMs: Math.min(
			limits?.timeout === undefined ? defaultLimits.timeoutMs : durationMs(limits.timeout),
			maxTimeoutMs,
		),
	};
}

function narrowLimits(
	operator: AgentLimits | undefined,
	asked: AgentLimits | undefined,
	narrowed: Narrowed[],
): AgentSpec["limits"] {
	const ceiling = operatorLimits(operator);
	const cut = (setting: string, wish: number | undefined, most: number, unit = ""): number => {
		if (wish === undefined || wish <= most) return wish ?? most;
		narrowed.push({ setting: `limits.${setting}`, asked: `${wish}${unit}`, given: `${most}${unit}` });
		return most;
	};
	return {
		turns: cut("turns", asked?.turns, ceiling.turns ?? defaultLimits.turns),
		iterations: cut("iterations", asked?.iterations, ceiling.iterations),
		timeoutMs: cut(
			"timeout",
			asked?.timeout === undefined ? undefined : durationMs(asked.timeout),
			ceiling.timeoutMs,
			"ms",
		),
	};
}

/** A `Duration` of the contract in milliseconds. */
function durationMs(duration: string): number {
	return ms(duration as ms.StringValue);
}

function highest(a: IsolationProfile | undefined, b: IsolationProfile | undefined): IsolationProfile | undefined {
	if (a === undefined || b === undefined) return a ?? b;
	return compareIsolation(b, a) > 0 ? b : a;
}

function beyond(rule: string, message: string, setting: string): AgentFailure {
	return { rule, message, fix: `Ask for less in .living/manifest.yaml, or widen ${setting} in mortise.yaml.` };
}
