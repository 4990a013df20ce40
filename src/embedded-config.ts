import type { AgentSettings, Config } from "./contract/index.js";

/** First-party tools that neither reach a network nor leave the agent's own store: run without asking by default. */
const harmlessTools = [
	"memory_recall",
	"memory_store",
	"note_add",
	"note_get",
	"note_list",
	"text_count",
	"text_lower",
	"text_reverse",
	"text_slug",
	"text_upper",
];

const shared: AgentSettings = {
	memory: "sqlite",
	policy: { autonomy: "supervised", auto_approve: harmlessTools },
	isolation: "wasm",
	limits: { turns: 100, iterations: 10, timeout: "60s" },
};

/**
 * What is in force where the operator's file is silent: one agent, `assistant`, on the offline provider, and
 * repositories that the operator names on the command line under the same policy. An absent section takes this one
 * whole; an empty section stays empty.
 */
export const embeddedConfig = {
	runtime: { name: "mortise", protocol_versions: ["v0.1"] },
	agents: { assistant: { ...shared, provider: { name: "offline", model: "offline-1" } } },
	// no `provider` here: a repository may choose any that is loaded, and gets `offline` when it names none
	repositories: { defaults: shared },
} satisfies Config;
