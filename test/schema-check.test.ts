import { Manifest, operations } from "@mortise/sdk/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { AgentManifest, Config, RuntimeDocument } from "../src/contract/index.js";
import { checkValue, faultText } from "../src/schema-check.js";

const faultsOf = (schema: z.ZodType, value: unknown) => {
	const checked = checkValue(schema, value);
	return checked.ok ? [] : checked.faults;
};
const messagesOf = (schema: z.ZodType, value: unknown) => faultsOf(schema, { a: value }).map((fault) => fault.message);
const of = (a: z.ZodType) => z.strictObject({ a });

/** Words of the library's own messages. */
const foreign = /invalid|expected|received|too (small|big)|unrecognized|>=|<=/i;

describe("the faults of a value", () => {
	it.each<[string, z.ZodType, unknown, string]>([
		["a wrong type", z.string(), 7, "a: must be text, not 7 (put it in quotes)"],
		["a list for a mapping", z.strictObject({}), [1], "a: must be a mapping, not a list"],
		["a mapping for a list", z.array(z.string()), {}, "a: must be a list, not a mapping"],
		["nothing at all", z.boolean(), undefined, "a: is missing; it must be true or false"],
		["null", z.string(), null, "a: must be text, not null"],
		["a broken number", z.number().int(), 1.5, "a: must be a whole number, not 1.5"],
		["a literal", z.literal(1), 2, "a: must be 1, not 2"],
		["one of some words", z.enum(["wasm", "esm"]), "lua", 'a: must be one of wasm, esm, not "lua"'],
		["an empty text", z.string().min(1), "", 'a: must be text of at least 1 character, not ""'],
		["a long text, by its length", z.string().max(3), "canary", "a: must be text of at most 3 characters, not 6"],
		["an empty list", z.array(z.string()).min(1), [], "a: must be a list of at least 1, not an empty list"],
		["a long list", z.array(z.string()).max(1), ["x", "y"], "a: must be a list of at most 1, not 2"],
		["a list of another length", z.array(z.string()).length(2), ["x"], "a: must be a list of exactly 2, not 1"],
		["a small number", z.number().min(3), 1, "a: must be at least 3, not 1"],
		["a number that is not positive", z.number().positive(), 0, "a: must be more than 0, not 0"],
		["a large number", z.number().lt(10), 10, "a: must be less than 10, not 10"],
		["no multiple", z.number().multipleOf(5), 7, "a: must be a multiple of 5, not 7"],
		["a form with words of its own", z.string().regex(/^v/, "a version"), "x", 'a: must be a version, not "x"'],
		["a form without", z.string().regex(/^v$/), "x", 'a: must be text of the form /^v$/, not "x"'],
		["a known format", z.base64(), "%", expect.stringMatching(/^a: must be text .*, not "%"$/) as unknown as string],
		["a rule with words", z.string().refine(() => false, "an inner path"), "x", 'a: must be an inner path, not "x"'],
		["a rule without", z.string().refine(() => false), "x", 'a: must be another value, not "x"'],
		["two forms", z.union([z.string(), z.number()]), [], "a: must be text, or a number, not an empty list"],
		[
			"an entry without a place",
			z.map(z.unknown(), z.number()),
			new Map([[{}, "x"]]),
			"a: must be a collection whose entries are each a number, not a mapping",
		],
	])("say of %s what belongs there and what was found", (_name, schema, value, message) => {
		expect(messagesOf(of(schema), value)).toEqual([message]);
	});

	it("name each unknown key and each key of another form, the key being what is wrong", () => {
		const schema = z.strictObject({ known: z.record(z.string().regex(/^[a-z]+$/, "lowercase letters"), z.number()) });
		expect(faultsOf(schema, { known: { "A b": 1, c: 2 }, one: 1, "t\nwo": 2 })).toEqual([
			{ path: ["known", "A b"], key: true, message: 'the key "A b" must be lowercase letters' },
			{ path: ["one"], key: true, message: 'unknown key "one"' },
			{ path: ["t\nwo"], key: true, message: 'unknown key "t\\u{a}wo"' },
		]);
	});

	it("follow the branch of a union that went furthest in", () => {
		const schema = of(z.union([z.string(), z.strictObject({ name: z.string(), model: z.string().optional() })]));
		expect(messagesOf(schema, { name: 3, modle: "x" })).toEqual([
			"a.name: must be text, not 3 (put it in quotes)",
			'unknown key "modle"',
		]);
	});

	it("show a found text escaped and cut", () => {
		const [message = ""] = messagesOf(of(z.enum(["x"])), `\u001b]0;t\u0007${"y".repeat(500)}`);
		expect(message).toContain('not "\\u{1b}]0;t\\u{7}yyy');
		expect(message.length).toBeLessThan(120);
	});

	it("end at about a hundred", () => {
		const value = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`k${index}`, 1]));
		expect(faultsOf(z.record(z.string(), z.string()), value).length).toBeLessThanOrEqual(100);
		expect(faultsOf(z.strictObject({}), value).length).toBeLessThanOrEqual(100);
		expect(faultText(faultsOf(z.strictObject({}), { x: 1, y: 2 }))).toBe('unknown key "x"; unknown key "y"');
	});

	it("are in our words for whatever stands in a manifest, a configuration, a document or an answer", () => {
		const schemas: readonly z.ZodType[] = [
			Manifest,
			AgentManifest,
			Config,
			RuntimeDocument,
			...Object.values(operations).flatMap(({ input, output }) => [input, output]),
		];
		const leaf = fc.oneof(fc.constantFrom("", "A B", 0, -1, 1.5, 1e9, true, null, [], {}), fc.integer());
		const value = fc.letrec((tie) => ({
			any: fc.oneof({ maxDepth: 4 }, leaf, fc.array(tie("any"), { maxLength: 3 }), tie("map")),
			map: fc.dictionary(fc.constantFrom(...keys), tie("any"), { maxKeys: 12 }),
		}));
		fc.assert(
			fc.property(fc.constantFrom(...schemas), value.map, (schema, given) => {
				for (const { message } of faultsOf(schema, given)) {
					expect(message).not.toMatch(foreign);
					expect(message).not.toMatch(/undefined|\[object/);
				}
			}),
			{ numRuns: 2000 },
		);
	});
});

/** Keys that lead deep into the schemas, so that their inner faults are met too. */
const keys = [
	...Object.keys(Manifest.shape),
	...Object.keys(Config.shape),
	...Object.keys(AgentManifest.shape),
	..."tools providers memory channels http secrets kv hosts reason use name models input output policy autonomy always_ask".split(
		" ",
	),
	..."defaults provider limits turns timeout content type text toolCalls usage stop entries agent state messages role".split(
		" ",
	),
	..."protocol_versions isolation_profiles agent_capabilities state_publication_targets x-mortise".split(" "),
];
