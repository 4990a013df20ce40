import type { IsolationProfile, JsonObject } from "@mortise/sdk/contract";
import type { Autonomy } from "../contract/index.js";

/** An agent as it may run at most: the operator's settings, narrowed by what a repository asked for. Plain data. */
export type AgentSpec = {
	/**
	 * The agent's name in memory, key-value space and sessions: a config agent's alias, or `repo:` and 32 hex digits
	 * of the repository's real path. An alias holds no `:`, so the two never meet.
	 */
	readonly key: string;
	/** For people: the alias, or the name of the repository's folder. */
	readonly name: string;
	readonly origin: "config" | "repository";
	/** The repository's real path, or the folder of the configuration. */
	readonly folder: string;
	/** `model` absent: the provider's first. `config`: the operator's settings for it. */
	readonly provider: { readonly name: string; readonly model?: string; readonly config: JsonObject };
	/** What the model is told first, the operator's before the repository's. */
	readonly instructions: readonly { readonly from: "operator" | "repository"; readonly text: string }[];
	/** The memory store; absent: none. `asked` is false when only the operator's default for repositories names it. */
	readonly memory?: { readonly name: string; readonly asked: boolean };
	readonly tools: {
		/** Absent: all that are loaded. Empty: none. */
		readonly allow?: readonly string[];
		/** Always subtracted. */
		readonly deny: readonly string[];
		/** Named by the agent itself: each must be loaded. */
		readonly asked: readonly string[];
	};
	/** Never from a repository. */
	readonly policy: {
		readonly autonomy: Autonomy;
		readonly alwaysAsk: readonly string[];
		readonly autoApprove: readonly string[];
		/** Absolute; absent: the host makes one. */
		readonly workspace?: string;
	};
	/** The floor for every plugin in the agent's turns. Absent: none beyond the plugins' own. */
	readonly isolation?: IsolationProfile;
	/** `path`: relative to `folder` and inside it for a repository; absolute for a config agent. Absent: not published. */
	readonly state?: { readonly target: string; readonly path?: string };
	/** Secrets that must be there when the agent starts (rule C8). */
	readonly secrets: readonly string[];
	/** `turns`: of one session. */
	readonly limits: { readonly turns?: number; readonly iterations: number; readonly timeoutMs: number };
};

/** One reason an agent is not started. `rule` is a matching rule's name, or the setting that says no. */
export type AgentFailure = { readonly rule: string; readonly message: string; readonly fix?: string };

/** A wish that was cut down to what the operator allows: not a refusal. */
export type Narrowed = { readonly setting: string; readonly asked: string; readonly given: string };

/**
 * What became of a request for an agent. With failures the agent must not start; `spec` is given all the same when the
 * agent could be identified, within the operator's bounds, so that the rest can be judged in the same report.
 */
export type Resolution = {
	readonly spec?: AgentSpec;
	readonly failures: readonly AgentFailure[];
	readonly narrowed: readonly Narrowed[];
};

/** Whether a spec lets an agent have a tool. */
export function allowsTool(tools: AgentSpec["tools"], name: string): boolean {
	return (tools.allow === undefined || tools.allow.includes(name)) && !tools.deny.includes(name);
}
