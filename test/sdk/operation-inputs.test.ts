import { type Operation, operations } from "@mortise/sdk/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkJsonSchema } from "../../sdk/src/define/json-schema-check.js";
import { type KnownOperation, operationInputs } from "../../sdk/src/define/operation-inputs.js";
import { compileSchema } from "../../src/json-schema.js";

const filters = {
	session: "s",
	category: ["a"],
	namespace: "n",
	since: "2026-01-01T00:00:00Z",
	until: "2026-01-01T00:00:00.000Z",
};
const full: Record<KnownOperation, Record<string, unknown>> = {
	"tool.call": { name: "t", arguments: {} },
	"provider.chat": {
		model: "m",
		messages: [{ role: "user", content: [{ type: "text", text: "a" }] }],
		tools: [{ name: "t", description: "", input: {} }],
		options: { temperature: 1, maxTokens: 1, stop: ["a"], toolChoice: "auto" },
	},
	"provider.models": {},
	"memory.store": {
		agent: "a",
		key: "k",
		content: "",
		category: "",
		session: "",
		namespace: "",
		importance: 1,
		metadata: {},
	},
	"memory.recall": { agent: "a", query: "", limit: 0, ...filters },
	"memory.get": { agent: "a", key: "k", namespace: "n" },
	"memory.list": { agent: "a", limit: 1000, offset: 0, ...filters },
	"memory.forget": { agent: "a", key: "k", namespace: "n" },
	"memory.count": { agent: "a", ...filters },
	"memory.health": {},
	"state.publish": {
		agent: "a",
		state: {
			agent: "a",
			runtime: "r",
			protocol_version: "v0.1.0",
			session: "s",
			turn: "t",
			status: "done",
			at: "2026-01-01T00:00:00Z",
		},
	},
};
const oddValues = [null, true, 0, -1, 1.5, 2000, "", "x", "2026-01-01", [], ["x"], [1], {}, { a: 1 }];
// the plugin's side looks only at the outline of what is nested
const nested = new Set(["arguments", "messages", "tools", "options", "metadata", "state"]);

describe("the inputs that a plugin checks without zod", () => {
	it("know an operation for every kind but channels", () => {
		const expected = Object.keys(operations).filter((op) => !op.startsWith("channel."));
		expect(Object.keys(operationInputs).sort()).toEqual(expected.sort());
	});

	it.each(Object.keys(full) as KnownOperation[])("agree with the contract's schema on %s", (op) => {
		const schema = operations[op as Operation].input;
		const agree = (input: unknown) =>
			expect({ input, fits: checkJsonSchema(operationInputs[op], input, "").length === 0 }).toEqual({
				input,
				fits: schema.safeParse(input).success,
			});
		agree(full[op]);
		for (const odd of oddValues) agree({ ...full[op], unknown_option: odd });
		for (const name of Object.keys(full[op])) {
			const { [name]: _left, ...rest } = full[op];
			agree(rest);
			if (!nested.has(name)) for (const odd of oddValues) agree({ ...full[op], [name]: odd });
		}
	});
});

describe("checkJsonSchema", () => {
	const keyword = fc.oneof(
		fc.record({ type: fc.constantFrom("string", "number", "integer", "boolean", "null", "array", "object") }),
		fc.record({
			type: fc
				.array(fc.constantFrom("string", "number", "null"), { minLength: 1, maxLength: 2 })
				.map((all) => [...new Set(all)]),
		}),
		fc.record({ enum: fc.uniqueArray(fc.constantFrom(1, "a", null, true), { minLength: 1 }) }),
		fc.record({ const: fc.constantFrom<unknown>(1, "a", null, { a: 1 }, [1]) }),
		fc.record({ minLength: fc.nat(3) }),
		fc.record({ maxLength: fc.nat(3) }),
		fc.record({ minimum: fc.integer({ min: -2, max: 2 }) }),
		fc.record({ exclusiveMaximum: fc.integer({ min: -2, max: 2 }) }),
		fc.record({ multipleOf: fc.constantFrom(1, 2) }),
		fc.record({ minItems: fc.nat(2) }),
		fc.record({ maxItems: fc.nat(2) }),
		fc.constant({ uniqueItems: true }),
		fc.record({ pattern: fc.constantFrom("^a", "\\p{L}") }),
		fc.record({ required: fc.uniqueArray(fc.constantFrom("a", "b", "toString")) }),
		fc.constant({ additionalProperties: false }),
	);
	const { schema } = fc.letrec<{ schema: Record<string, unknown> }>((tie) => ({
		schema: fc.oneof(
			{ depthSize: "small" },
			keyword,
			fc.tuple(keyword, keyword).map(([one, other]) => ({ ...one, ...other })),
			fc.record({
				properties: fc.dictionary(fc.constantFrom("a", "b"), tie("schema")),
				additionalProperties: fc.oneof(fc.boolean(), tie("schema")),
			}),
			fc.record({ items: tie("schema") }),
			fc.record({ prefixItems: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }), items: tie("schema") }),
			fc.record({ anyOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
			fc.record({ oneOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
			fc.record({ allOf: fc.array(tie("schema"), { minLength: 1, maxLength: 2 }) }),
			fc.record({ not: tie("schema") }),
			fc.record({ $defs: fc.record({ d: tie("schema") }), $ref: fc.constant("#/$defs/d") }),
		),
	}));
	const { value } = fc.letrec<{ value: unknown }>((tie) => ({
		value: fc.oneof(
			{ depthSize: "small" },
			fc.constantFrom<unknown>(null, true, 0, 1, 2, -1, 1.5, "", "a", "ab", "😀"),
			fc.array(tie("value"), { maxLength: 3 }),
			fc.dictionary(fc.constantFrom("a", "b", "c"), tie("value")),
		),
	}));

	it("decides as the host's validator does, for the keywords it knows", () => {
		let compared = 0;
		const agree = (root: Record<string, unknown>, given: unknown) => {
			// a $ref is read from the root, so only there may it stand
			if (/"\$ref"/.test(JSON.stringify(Object.values(root)).replace('"#/$defs/d"', ""))) return;
			const compiled = compileSchema(root);
			if (!compiled.ok) return;
			compared++;
			expect(checkJsonSchema(root, given, "").length === 0).toBe(compiled.check(given).length === 0);
		};
		fc.assert(fc.property(schema, value, agree), { numRuns: 1500 });
		expect(compared).toBeGreaterThan(500);
	});

	it("ends on a schema that refers to itself and a value nested without measure", () => {
		const root = { $ref: "#" };
		expect(checkJsonSchema(root, 1, "")).not.toEqual([]);
		let deep: unknown = 1;
		for (let depth = 0; depth < 10_000; depth++) deep = [deep];
		expect(
			checkJsonSchema({ $defs: { d: { items: { $ref: "#/$defs/d" } } }, $ref: "#/$defs/d" }, deep, ""),
		).not.toEqual([]);
	});
});
