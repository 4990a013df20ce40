import type { JsonSchema } from "../contract/json.js";

// The contract's zod schemas, said again in a few JSON Schemas: a plugin's bundle must not carry zod, whose evaluation
// takes tens of milliseconds in a fresh instance. test/sdk/operation-inputs.test.ts holds the two together.

const string = { type: "string" };
const filled = { type: "string", minLength: 1 };
const whole = { type: "integer", minimum: 0 };
const limit = { type: "integer", minimum: 0, maximum: 1000 };
const time = { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?Z$" };
const object = { type: "object" };
const content = { type: "array", items: { type: "object", required: ["type"], properties: { type: string } } };
const importance = { type: "number", minimum: 0, maximum: 1 };
const filters = {
	session: string,
	category: { anyOf: [string, { type: "array", items: string }] },
	namespace: string,
	since: time,
	until: time,
};

const message = {
	type: "object",
	required: ["role", "content"],
	properties: {
		role: { enum: ["system", "user", "assistant", "tool"] },
		content,
		toolCalls: { type: "array", items: closed({ id: filled, name: string, arguments: object }, []) },
		reasoning: string,
		callId: string,
		name: string,
		isError: { type: "boolean" },
	},
};

/** What the input of each operation must look like. Those that are not here have no such operation in `definePlugin`. */
export const operationInputs = {
	"tool.call": closed({ name: { type: "string", pattern: "^[A-Za-z0-9_-]{1,64}$" }, arguments: object }, []),
	"provider.chat": closed(
		{
			model: string,
			messages: { type: "array", items: message },
			tools: { type: "array", items: closed({ name: string, description: string, input: object }, []) },
			options: closed(
				{
					temperature: { type: "number" },
					maxTokens: { type: "integer", minimum: 1 },
					stop: { type: "array", items: string },
					toolChoice: string,
				},
				["temperature", "maxTokens", "stop", "toolChoice"],
			),
		},
		[],
	),
	"provider.models": closed({}, []),
	"memory.store": closed(
		{
			agent: filled,
			key: { type: "string", minLength: 1, maxLength: 256 },
			content: string,
			category: string,
			session: string,
			namespace: string,
			importance,
			metadata: object,
		},
		["key", "category", "session", "namespace", "importance", "metadata"],
	),
	"memory.recall": closed({ agent: filled, query: string, limit, ...filters }, Object.keys(filters)),
	"memory.get": closed({ agent: filled, key: filled, namespace: string }, ["namespace"]),
	"memory.list": closed({ agent: filled, limit, offset: whole, ...filters }, [
		"limit",
		"offset",
		...Object.keys(filters),
	]),
	"memory.forget": closed({ agent: filled, key: filled, namespace: string }, ["namespace"]),
	"memory.count": closed({ agent: filled, ...filters }, Object.keys(filters)),
	"memory.health": closed({}, []),
	"state.publish": closed({ agent: string, state: object }, []),
} as const satisfies Record<string, JsonSchema>;

/** An operation that `definePlugin` knows. */
export type KnownOperation = keyof typeof operationInputs;

function closed(properties: Record<string, JsonSchema>, optional: readonly string[]) {
	const required = Object.keys(properties).filter((name) => !optional.includes(name));
	return { type: "object", properties, required, additionalProperties: false };
}
