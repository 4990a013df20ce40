// biome-ignore-all lint/suspicious/noThenProperty: a keyword of JSON Schema
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: hostile texts
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compileSchema } from "../src/json-schema.js";

function check(schema: unknown, value: unknown): string[] {
	const compiled = compileSchema(schema);
	if (!compiled.ok) throw new Error(compiled.detail);
	return compiled.check(value);
}
const accepts = (schema: unknown, value: unknown): boolean => check(schema, value).length === 0;
const refuses = (schema: unknown): boolean => !compileSchema(schema).ok;

describe("what a schema means", () => {
	it.each<[string, unknown, unknown, unknown]>([
		["type", { type: "string" }, "a", 1],
		["several types", { type: ["string", "null"] }, null, 1],
		["integer", { type: "integer" }, 3, 3.5],
		["enum of objects", { enum: [{ a: 1 }, 2] }, { a: 1 }, { a: 2 }],
		["const", { const: [1] }, [1], [2]],
		["required", { required: ["a"] }, { a: 1 }, {}],
		["closed objects", { properties: { a: true }, additionalProperties: false }, { a: 1 }, { b: 1 }],
		["patternProperties", { patternProperties: { "^n": { type: "number" } } }, { n1: 1 }, { n1: "x" }],
		["propertyNames", { propertyNames: { maxLength: 2 } }, { ab: 1 }, { abc: 1 }],
		["dependentRequired", { dependentRequired: { a: ["b"] } }, { a: 1, b: 1 }, { a: 1 }],
		["dependentSchemas", { dependentSchemas: { a: { required: ["b"] } } }, { a: 1, b: 1 }, { a: 1 }],
		["prefixItems", { prefixItems: [{ type: "string" }], items: false }, ["a"], ["a", 1]],
		["contains", { contains: { const: 1 }, maxContains: 1 }, [1, 2], [1, 1]],
		[
			"uniqueItems",
			{ uniqueItems: true },
			[1, "1", { a: 1, b: 2 }],
			[
				{ a: 1, b: 2 },
				{ b: 2, a: 1 },
			],
		],
		["if, then and else", { if: { type: "string" }, then: { minLength: 2 }, else: { minimum: 5 } }, "ab", 1],
		["oneOf", { oneOf: [{ type: "integer" }, { minimum: 5 }] }, 1, 6],
		["not", { not: { type: "string" } }, 1, "a"],
		["unevaluatedProperties", { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
		["a reference into $defs", { $defs: { "a/b": { type: "string" } }, $ref: "#/$defs/a~1b" }, "x", 1],
		[
			"a reference to a property",
			{ properties: { a: { type: "string" }, b: { $ref: "#/properties/a" } } },
			{ b: "x" },
			{ b: 1 },
		],
		[
			"a reference to true",
			{ properties: { a: true, b: { $ref: "#/properties/a" } }, required: ["b"] },
			{ b: 1 },
			{ a: 1 },
		],
		[
			"a reference to itself",
			{ type: "object", properties: { next: { $ref: "#" } } },
			{ next: { next: {} } },
			{ next: { next: 1 } },
		],
		[
			"two patterns",
			{ properties: { a: { pattern: "^a$" }, b: { pattern: "^b$" } } },
			{ a: "a", b: "b" },
			{ a: "a", b: "a" },
		],
		["a pattern with an escape", { pattern: "^\\u0041\\d$" }, "A1", "B1"],
		["a checked format", { format: "date-time" }, "2024-02-29T10:00:00Z", "2023-02-29T10:00:00Z"],
		["boolean schemas", { properties: { a: false } }, {}, { a: 1 }],
	])("knows %s", (_name, schema, right, wrong) => {
		expect(check(schema, right)).toEqual([]);
		expect(check(schema, wrong)).not.toEqual([]);
	});

	it("takes notes, x- keywords and unknown formats without effect", () => {
		expect(
			accepts({ title: "t", description: "d", default: 1, "x-ui": { $ref: "http://a.test/" }, format: "uint" }, 5),
		).toBe(true);
		expect(accepts({ $id: "https://a.test/s", $schema: "https://json-schema.org/draft/2020-12/schema" }, 5)).toBe(true);
	});

	it("never loads what a schema or a value inherits", () => {
		expect(accepts({ required: ["toString"] }, {})).toBe(false);
		expect(accepts({ properties: { constructor: { type: "string" } } }, {})).toBe(true);
		expect(refuses(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'))).toBe(true);
		expect(check({ type: "object" }, JSON.parse('{"__proto__":{"a":1}}'))).toHaveLength(1);
	});
});

describe("what is refused as a schema", () => {
	it.each<[string, unknown]>([
		["no schema at all", "text"],
		["a misspelt keyword", { requird: ["a"] }],
		["a value of the wrong shape", { minLength: "3" }],
		["a negative count", { maxItems: -1 }],
		["an unknown type", { type: "text" }],
		["a list of items (draft-07)", { items: [{ type: "string" }] }],
		["a remote reference", { properties: { a: { $ref: "https://a.test/schema.json" } } }],
		["a file reference", { properties: { a: { $ref: "file:///etc/passwd" } } }],
		["a reference by anchor", { properties: { a: { $ref: "#name" } } }],
		["a reference to nothing", { $ref: "#/$defs/none" }],
		["a reference into a note", { default: { type: "string" }, properties: { a: { $ref: "#/default" } } }],
		["an inner $id", { properties: { a: { $id: "https://a.test/" } } }],
		["$async", { $async: true, type: "object" }],
		["$data", { properties: { a: { maximum: { $data: "1/b" } } } }],
		["anchors", { $anchor: "here" }],
		["look-ahead", { pattern: "^(?=a)b" }],
		["a back reference", { pattern: "(a)\\1" }],
		["a repeat that unfolds", { pattern: "((a{100}){100}){100}" }],
		["an RE2 escape that is a letter in ECMA-262", { pattern: "\\Qa" }],
		["a bad pattern among patternProperties", { patternProperties: { "(": {} } }],
		["a reference to itself only", { $ref: "#" }],
		[
			"a circle of references",
			{ $defs: { a: { $ref: "#/$defs/b" }, b: { allOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" },
		],
		["functions", { type: "object", properties: () => 1 }],
		["a bigint", { maximum: 5n }],
		["undefined", undefined],
	])("refuses %s", (_name, schema) => {
		const compiled = compileSchema(schema);
		expect(compiled.ok ? "" : compiled.detail).not.toBe("");
	});

	it("refuses what is too large, too deep, too wide or cyclic", () => {
		expect(refuses({ description: "x".repeat(64 * 1024) })).toBe(true);
		let deep: unknown = {};
		for (let level = 0; level < 40; level += 1) deep = { not: deep };
		expect(refuses(deep)).toBe(true);
		expect(refuses({ enum: Array.from({ length: 6000 }, (_, index) => index) })).toBe(true);
		const cyclic: { not?: unknown } = {};
		cyclic.not = cyclic;
		expect(refuses(cyclic)).toBe(true);
		const defs = Object.fromEntries(
			Array.from({ length: 300 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
		);
		expect(refuses({ $defs: { ...defs, d300: {} }, $ref: "#/$defs/d0" })).toBe(true);
	});

	it("names the place of the mistake as a JSON pointer", () => {
		const compiled = compileSchema({ properties: { "a/b": { type: "text" } } });
		expect(compiled).toMatchObject({ ok: false, detail: expect.stringContaining("/properties/a~1b/type") });
		const lost = compileSchema({ properties: { a: { $ref: "#/$defs/none" } } });
		expect(lost).toMatchObject({ ok: false, detail: expect.stringContaining("/$defs/none") });
	});
});

describe("values and messages", () => {
	it("refuses more than is compiled in tens of milliseconds, and says which limit it is", () => {
		const properties = (count: number, make: (index: number) => unknown) => ({
			properties: Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, make(index)])),
		});
		const detail = (schema: unknown) => {
			const compiled = compileSchema(schema);
			return compiled.ok ? "" : compiled.detail;
		};
		expect(detail(properties(199, () => true))).toBe("");
		expect(detail(properties(200, () => true))).toContain("more than 200 subschemas");
		expect(detail(properties(32, (index) => ({ pattern: `^a${index}$` })))).toBe("");
		expect(detail(properties(33, (index) => ({ pattern: `^a${index}$` })))).toContain("at most 32");
		expect(detail(properties(10, (index) => ({ pattern: `^[ab]{1,900}${index}$` })))).toContain(
			"instructions together",
		);
	});

	it("refuses what is not JSON, too deep or too wide", () => {
		let deep: unknown = 1;
		for (let level = 0; level < 100; level += 1) deep = [deep];
		for (const value of [
			undefined,
			Number.NaN,
			1n,
			() => 1,
			new Date(),
			new Map(),
			[undefined],
			deep,
			Array.from({ length: 200_001 }, () => 0),
		]) {
			expect(check(true, value)).toHaveLength(1);
		}
	});

	it("lists several mistakes at once, at most 20, each with its pointer", () => {
		const schema = {
			type: "object",
			properties: { a: { type: "string" }, "b/c": { type: "number" } },
			required: ["d"],
		};
		const messages = check(schema, { a: 1, "b/c": "x" });
		expect(messages).toHaveLength(3);
		expect(messages.some((message) => message.startsWith("/b~1c "))).toBe(true);
		expect(
			check(
				{ items: { type: "string" } },
				Array.from({ length: 500 }, () => 1),
			),
		).toHaveLength(20);
	});

	it("never shows a value", () => {
		const canary = "canary-4711";
		const schema = {
			properties: {
				a: { type: "number" },
				b: { pattern: "^x$" },
				c: { enum: [1] },
				d: { const: 2 },
				e: { format: "uri" },
				f: { maxLength: 1 },
				g: { uniqueItems: true },
				h: { not: {} },
				i: { anyOf: [{ type: "null" }] },
			},
		};
		const value = Object.fromEntries([..."abcdefghi"].map((key) => [key, key === "g" ? [canary, canary] : canary]));
		const messages = check(schema, value);
		expect(messages.length).toBeGreaterThanOrEqual(9);
		expect(messages.join("\n")).not.toContain(canary);
	});

	it("keeps no part of a value after the check", () => {
		const compiled = compileSchema({ type: "string" });
		if (!compiled.ok) throw new Error(compiled.detail);
		expect(compiled.check(1)).toEqual(compiled.check(1));
		expect(compiled.check("x")).toEqual([]);
	});

	it("escapes control characters of keys", () => {
		const [message] = check({ additionalProperties: { type: "string" } }, { "a\u001b[31m\u202e": 1 });
		expect(message).toContain("\\u{1b}");
		expect(message).toContain("\\u{202e}");
	});
});

describe("for any input", () => {
	const hostile = fc.oneof(
		fc.string(),
		fc.constantFrom(
			'"];globalThis.pwned=1;//',
			"${globalThis.pwned=1}",
			"`+(globalThis.pwned=1)+`",
			"\u2028globalThis.pwned=1",
			"*/globalThis.pwned=1/*",
			"'",
			"\\",
			"constructor",
			"valueOf",
			"$ref",
			"data",
			"vErrors",
			"hasOwnProperty",
		),
	);

	it("runs no code that a schema's texts bring", () => {
		fc.assert(
			fc.property(hostile, hostile, hostile, (a, b, c) => {
				const schema = {
					title: a,
					$comment: b,
					properties: { [a]: { type: "string", enum: [b, c] }, [b]: { const: { [c]: a } } },
					required: [...new Set([a, b])],
					dependentRequired: { [c]: [a] },
					format: c,
					additionalProperties: { $ref: "#/$defs/x" },
					$defs: { x: { pattern: "^x" }, [a]: { multipleOf: 0.5 } },
				};
				const compiled = compileSchema(schema);
				if (compiled.ok) compiled.check({ [a]: b, [b]: { [c]: a }, [c]: c });
				return !("pwned" in globalThis);
			}),
			{ numRuns: 200 },
		);
	});

	it("throws for no schema and no value", () => {
		const names = [
			"type",
			"properties",
			"items",
			"$ref",
			"allOf",
			"enum",
			"pattern",
			"required",
			"not",
			"$defs",
			"format",
			"minLength",
			"if",
			"$id",
			"uniqueItems",
		];
		const schemas = fc.letrec((tie) => ({
			node: fc.oneof(
				{ maxDepth: 4 },
				fc.constantFrom<unknown>(true, false, 1, "string", "#", "#/$defs/a", null, ["a"], "object"),
				fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), tie("node"), { maxKeys: 4 }),
				fc.array(tie("node"), { maxLength: 3 }),
			),
		})).node;
		fc.assert(
			fc.property(schemas, fc.anything(), (schema, value) => {
				const compiled = compileSchema(schema);
				if (!compiled.ok) return compiled.detail.length > 0;
				return compiled.check(value).length <= 20;
			}),
			{ numRuns: 500 },
		);
	});

	it("gives one answer whatever the order of keys", () => {
		fc.assert(
			fc.property(
				fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 2 }),
				fc.dictionary(fc.constantFrom("a", "b", "c", "d"), fc.oneof(fc.string(), fc.integer())),
				(keys, value) => {
					const build = (order: string[]): unknown => ({
						properties: Object.fromEntries(order.map((key) => [key, { type: "string" }])),
						required: ["a"],
					});
					expect(check(build(keys), value)).toEqual(check(build([...keys].reverse()), value));
				},
			),
			{ numRuns: 100 },
		);
	});
});
