import { RecallInput, StoreInput, type ToolCallOutput, text } from "@mortise/sdk/contract";
import { HostError } from "../errors.js";
import type { MemoryOutcome, MemoryStore } from "./memory-store.js";
import { failedOutput, type NativeContext, type NativeTool, objectSchema } from "./native.js";

const defaultLimit = 10;
const maxLimit = 50;
const maxContentLength = 64 * 1024;

const storeInput = objectSchema(
	{
		content: { type: "string", minLength: 1, maxLength: maxContentLength, description: "What to remember." },
		key: { type: "string", minLength: 1, maxLength: 256, description: "A name for it; the same name replaces it." },
		category: { type: "string", maxLength: 256 },
		importance: { type: "number", minimum: 0, maximum: 1 },
	},
	["content"],
);
const recallInput = objectSchema(
	{
		query: { type: "string", maxLength: 4096, description: 'Words to look for; "" or "*" gives the newest.' },
		limit: {
			type: "integer",
			minimum: 1,
			maximum: maxLimit,
			description: `At most this many; ${defaultLimit} unless given.`,
		},
		category: {
			anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
			description: "Only these categories.",
		},
		since: { type: "string", format: "date-time", description: "Not before this time (UTC)." },
		until: { type: "string", format: "date-time", description: "Before this time (UTC)." },
	},
	["query"],
);

/** `memory_store` and `memory_recall` over the agent's store. The agent is the host's word, never an argument. */
export function createMemoryTools(store: MemoryStore): readonly NativeTool[] {
	return [
		{
			tool: {
				origin: "native",
				name: "memory_store",
				description: "Remembers a text for later turns. Give a key to be able to replace it.",
				input: storeInput,
				effects: ["write"],
			},
			execute: async (input, context) => {
				requireLive("memory_store", context);
				const asked = StoreInput.safeParse({ ...input, agent: context.agent });
				if (!asked.success) return failedOutput("memory_store: the arguments do not have the right shape");
				const outcome = await store.store(asked.data);
				if (!outcome.ok) return failed(store, outcome);
				const { key } = outcome.output;
				return { content: text(`Remembered as ${key}.`), structured: { key } };
			},
		},
		{
			tool: {
				origin: "native",
				name: "memory_recall",
				description: "Finds what was remembered, best match first.",
				input: recallInput,
				effects: ["read"],
			},
			execute: async (input, context) => {
				requireLive("memory_recall", context);
				const asked = RecallInput.safeParse({ limit: defaultLimit, ...input, agent: context.agent });
				if (!asked.success) return failedOutput("memory_recall: since and until must be times in UTC, ending in Z");
				const outcome = await store.recall(asked.data);
				if (!outcome.ok) return failed(store, outcome);
				const { entries } = outcome.output;
				const lines = entries.map((entry) => `[${entry.key}] ${entry.content}`);
				return {
					content: text(lines.length === 0 ? "Nothing that is remembered matches." : lines.join("\n")),
					// the contract's entries are JSON, which the types cannot see
					structured: { entries } as ToolCallOutput["structured"],
				};
			},
		},
	];
}

// what the store reports of itself is for the model; a store that breaks is not
function failed(store: MemoryStore, outcome: MemoryOutcome<unknown> & { readonly ok: false }): ToolCallOutput {
	if (outcome.failure !== undefined) return failedOutput(`${outcome.failure.code}: ${outcome.failure.message}`);
	const code = outcome.error.owner === "plugin" ? "memory.plugin_failed" : "memory.store_failed";
	throw new HostError(code, { store: store.name, detail: outcome.error.message });
}

function requireLive(tool: string, context: NativeContext): void {
	if (context.signal.aborted) throw new HostError("plugin.cancelled", { plugin: tool });
}
