import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { checkDocument, maxDocumentBytes, readYaml } from "../src/yaml.js";

function codesOf(text: string | Uint8Array): string[] {
	return readYaml(text, "f.yaml").problems.map((problem) => problem.code);
}

function placesOf(text: string): string[] {
	return readYaml(text, "f.yaml").problems.map(({ code, line, column, pointer }) =>
		[code, line, column, pointer].join(" "),
	);
}

describe("readYaml", () => {
	it("reads YAML and JSON as plain data", () => {
		expect(readYaml('a: 1\nb: [x, "y", null]\nc: { d: true }\n', "f").document?.value).toEqual({
			a: 1,
			b: ["x", "y", null],
			c: { d: true },
		});
		expect(readYaml('{"a":[1,{"b":null}]}', "f").document?.value).toEqual({ a: [1, { b: null }] });
		expect(readYaml("", "f")).toMatchObject({ document: { value: null }, problems: [] });
		expect(readYaml("\ufeffa: 1\r\nb: 2\r\n", "f").document?.value).toEqual({ a: 1, b: 2 });
	});

	it("keeps to the core schema: no merge keys, no dates, no yes and no", () => {
		expect(readYaml("a: yes\nb: 2001-01-01\n<<: { c: 1 }\n", "f").document?.value).toEqual({
			a: "yes",
			b: "2001-01-01",
			"<<": { c: 1 },
		});
	});

	it("gives the place of a value and of a key, and of the nearest parent of what is missing", () => {
		const { document } = readYaml("a:\n  - b: 1\n    c: two\n", "f");
		expect(document?.at(["a", 0, "c"])).toEqual({ line: 3, column: 8 });
		expect(document?.at(["a", 0, "c"], true)).toEqual({ line: 3, column: 5 });
		expect(document?.at(["a", 0, "zzz"])).toEqual({ line: 2, column: 5 });
	});

	it("refuses a duplicate key by its second place, also when it is a number and a text, and keeps the first", () => {
		expect(placesOf("a: 1\nb:\n  c: 1\n  c: 2\n")).toEqual(["yaml.duplicate_key 4 3 /b/c"]);
		expect(codesOf('1: a\n"1": b\n')).toEqual(["yaml.duplicate_key"]);
		expect(readYaml("a: 1\na: 2\n", "f").document?.value).toEqual({ a: 1 });
	});

	it("refuses __proto__ and leaves every prototype alone", () => {
		expect(placesOf("a:\n  __proto__: { x: 1 }\n")).toEqual(["yaml.forbidden_key 2 3 /a/__proto__"]);
		const value = readYaml('{"__proto__": {"polluted": 1}}', "f").document?.value as Record<string, unknown>;
		expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
		expect(value.polluted).toBeUndefined();
	});

	it("refuses every tag", () => {
		expect(placesOf("a: !!js/function x\nb: !mine 1\n")).toEqual(["yaml.tag 1 4 /a", "yaml.tag 2 4 /b"]);
		for (const tag of ["!!str 1", "!!binary aGk=", "!!set { a }", "! x", "!<tag:x> y"])
			expect(codesOf(`a: ${tag}`)).toEqual(["yaml.tag"]);
		expect(codesOf('a: |\n  !not a tag\n  *nor &this\nb: "!x"\n')).toEqual([]);
	});

	it("allows a few aliases and refuses a bomb, a cycle and an anchor that is not there", () => {
		expect(readYaml("a: &x { b: 1 }\nc: *x\n", "f").document?.value).toEqual({ a: { b: 1 }, c: { b: 1 } });
		const wide = `a: &a [${"x, ".repeat(2000)}]\nb: [${"*a, ".repeat(10)}]\n`;
		const deep = `a0: &a0 [x, x]\n${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [*a${i}, *a${i}]`).join("\n")}`;
		expect(codesOf(`a: &a x\nb: [${"*a, ".repeat(21)}]\n`)).toEqual(["yaml.alias_limit"]);
		expect(codesOf(wide)).toEqual(["yaml.alias_limit"]);
		expect(codesOf(`${deep}\nz: [${"*a9, ".repeat(2)}]\n`)).toEqual([]);
		expect(codesOf(`${"&a ".repeat(200)}x`)).toEqual(["yaml.alias_limit"]);
		expect(codesOf("a: &a [*a]\n")).toEqual(["yaml.syntax"]);
		expect(codesOf("a: *nowhere\n")).toEqual(["yaml.syntax"]);
	});

	it("refuses nesting past 64 before it costs stack or time", () => {
		const nested = (depth: number): string => `${"[".repeat(depth)}x${"]".repeat(depth)}`;
		expect(codesOf(nested(63))).toEqual([]);
		expect(codesOf(nested(70))).toEqual(["yaml.too_deep"]);
		for (const text of ["[".repeat(200_000), "{a: ".repeat(50_000), "- ".repeat(100_000), "? ".repeat(100_000)])
			expect(codesOf(text)).toEqual(["yaml.too_deep"]);
	});

	it("refuses a file past the cap without reading it, and bytes that are not UTF-8", () => {
		expect(codesOf("#".repeat(5 * 1024 * 1024))).toEqual(["yaml.too_large"]);
		expect(codesOf("#".repeat(maxDocumentBytes))).toEqual([]);
		expect(codesOf(Uint8Array.from([0x61, 0x3a, 0x20, 0xff]))).toEqual(["yaml.encoding"]);
		expect(codesOf(Uint8Array.from([0xff, 0xfe, 0x61, 0x00]))).toEqual(["yaml.encoding"]);
	});

	it("refuses directives, a second document and keys that are no plain text", () => {
		expect(codesOf("%YAML 1.1\n---\na: yes\n")).toContain("yaml.syntax");
		expect(codesOf("a: 1\n---\nb: 2\n")).toEqual(["yaml.syntax"]);
		expect(codesOf("? [a, b]\n: 1\n")).toEqual(["yaml.syntax"]);
	});

	it("refuses a file of very many parts, and ends at a hundred problems", () => {
		expect(codesOf("#\n".repeat(maxDocumentBytes / 2))).toEqual(["yaml.too_many_parts"]);
		expect(codesOf("]\n".repeat(50_000))).toHaveLength(100);
		const { document } = readYaml(Array.from({ length: 20_000 }, (_, index) => `k${index}: `).join("\n"), "f");
		if (document === undefined) throw new Error("not read");
		const checked = checkDocument(document, z.strictObject({}), "schema.invalid");
		expect(checked.ok ? 0 : checked.problems.length).toBe(100);
	});

	it("reads 20,000 keys without comparing each with each", () => {
		const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: `).join("\n");
		expect(codesOf(keys)).toEqual([]);
	}, 5_000);

	it("never throws and never points outside of the file", () => {
		const piece = fc.constantFrom(
			..."{}[]:,-?!&*|>'\"%@#\n \t\\~",
			"- ",
			": ",
			"&a ",
			"*a",
			"a",
			"__proto__",
			"!!x ",
			"---",
			"\r\n",
			"\u0000",
			"\ufeff",
			"é",
			"💥",
		);
		const text = fc.oneof(
			fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join("")),
			fc.string({ unit: "binary", maxLength: 60 }),
		);
		fc.assert(
			fc.property(text, (source) => {
				const { document, problems } = readYaml(source, "f");
				const lines = source.split("\n");
				for (const { line, column } of problems) {
					expect(line).toBeGreaterThanOrEqual(1);
					expect(line).toBeLessThanOrEqual(lines.length);
					expect(column).toBeGreaterThanOrEqual(1);
					expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
				}
				if (problems.length === 0) expect(document).toBeDefined();
			}),
			{ numRuns: 1000 },
		);
	});

	it("takes any bytes", () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
				expect(readYaml(bytes, "f").problems).toBeInstanceOf(Array);
			}),
		);
	});
});

describe("checkDocument", () => {
	const Shape = z.strictObject({
		name: z.string().max(3).regex(/^a/),
		either: z.union([z.strictObject({ kind: z.string() }), z.enum(["x", "y"])]),
	});
	function problemsOf(text: string): string[] {
		const { document } = readYaml(text, "f");
		if (document === undefined) throw new Error("not read");
		const checked = checkDocument(document, Shape, "schema.invalid");
		return checked.ok ? [] : checked.problems.map(({ line, pointer }) => `${line} ${pointer}`);
	}

	it("gives one problem for each wrong value and each unknown key, at its place", () => {
		expect(problemsOf("name: zzzzz\neither: x\nmore: 1\nagain: 2\n")).toEqual(["1 /name", "3 /more", "4 /again"]);
		expect(problemsOf("either: x\n")).toEqual(["1 /name"]);
	});

	it("goes into the branch of a union that was meant", () => {
		expect(problemsOf("name: a\neither: { kind: 1, odd: 2 }\n")).toEqual(["2 /either/kind", "2 /either/odd"]);
		expect(problemsOf("name: a\neither: 5\n")).toEqual(["2 /either"]);
		expect(problemsOf("name: a\n")).toEqual(["1 /either"]);
	});
});
