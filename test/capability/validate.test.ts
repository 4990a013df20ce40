import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { formatProblems, kindOfName, validateBytes, validateFile } from "../../src/capability/index.js";
import type { Problem } from "../../src/contract/index.js";

const bytes = (text: string) => new TextEncoder().encode(text);
const check = (file: string, text: string, options = {}) => validateBytes(bytes(text), file, options);
const placesOf = (problems: readonly Problem[]) => problems.map((each) => [each.line, each.column, each.pointer]);

const manifest = `protocol_version: v0.1.0
agent_capabilities: [run_tasks]
isolation_profile: wasm
state_publication: { target: file }
`;

describe("what a file is", () => {
	it("is told by its name, then by its content", () => {
		expect(kindOfName("a/plugin.yaml")).toBe("plugin");
		expect(kindOfName("mortise.yaml")).toBe("config");
		expect(kindOfName("x/.living/manifest.yaml")).toBe("agent-manifest");
		expect(kindOfName("living-repos-runtime.json")).toBe("runtime-document");
		expect(kindOfName("x/manifest.yaml")).toBeUndefined();
		expect(check("a.yaml", manifest)).toEqual({ kind: "agent-manifest", problems: [] });
		expect(check("a.yaml", "agents: {}").kind).toBe("config");
		expect(check("a.yaml", "contract: 1").kind).toBe("plugin");
		expect(check("a.yaml", "protocol_versions: [v0.1]").kind).toBe("runtime-document");
	});

	it("is a problem of its own when it cannot be told", () => {
		for (const text of ["just text", "- a\n- b", "x: 1", ""]) {
			const { kind, problems } = check("a.yaml", text);
			expect(kind).toBeUndefined();
			expect(problems.map((each) => each.code)).toEqual(["validate.unknown_kind"]);
		}
	});
});

describe("validating", () => {
	it("C1 C2 C3 gives every problem of a document at once, each with its place, in the order of the file", () => {
		const text = `runtime: 7
protocol_versions:
  - v0.1
  - v0.3.1
owner: me
x-more: [kept]
isolation_profiles: []
state_publication_targets: [file, 3]
`;
		expect(placesOf(check("runtime.yaml", text).problems)).toEqual([
			[1, expect.any(Number), "/agent_capabilities"],
			[1, 10, "/runtime"],
			[4, 5, "/protocol_versions/1"],
			[5, 1, "/owner"],
			[7, 21, "/isolation_profiles"],
			[8, 35, "/state_publication_targets/1"],
		]);
	});

	it("C8 checks a manifest's secrets by name", () => {
		const { problems } = check("a.yaml", `${manifest}secrets: [GOOD, "bad name"]\n`);
		expect(placesOf(problems)).toEqual([[5, 17, "/secrets/1"]]);
	});

	it("gives a plugin.yaml to the reader of bundles, nine mistakes for nine", () => {
		const text = `contract: 2
id: Bad Id
version: one
description: ""
runtime: lua
entry: ../up.wasm
isolation: none
provides: { tools: [{ name: "a b", description: x }] }
colour: red
`;
		const { kind, problems } = check("plugin.yaml", text);
		expect(kind).toBe("plugin");
		expect(new Set(problems.map((each) => each.line))).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9]));
		expect(problems).toHaveLength(9);
		for (const each of problems) expect(each.line * each.column).toBeGreaterThan(0);
	});

	it("compiles the schemas of a plugin.yaml", () => {
		const text = `contract: 1
id: a
version: 1.0.0
description: x
runtime: wasm
entry: a.wasm
provides: { tools: [{ name: a, description: x, input: { type: nonsense } }] }
`;
		expect(check("plugin.yaml", text).problems).toHaveLength(1);
	});

	it("--strict makes problems of unknown keys in a manifest and of values listed twice", () => {
		const text = `${manifest.replace("[run_tasks]", "[run_tasks, run_tasks]")}owner: me\nx-own: 1\n`;
		expect(check("a.yaml", text).problems).toEqual([]);
		const { problems } = check("a.yaml", text, { strict: true });
		expect(problems.map((each) => [each.code, each.pointer])).toEqual([
			["validate.warning", "/agent_capabilities/1"],
			["validate.warning", "/owner"],
		]);
	});

	it("reports a duplicate key together with what is wrong elsewhere", () => {
		const { problems } = check("runtime.yaml", "runtime: a\nruntime: b\nprotocol_versions: []\n");
		expect(problems.length).toBeGreaterThan(2);
		expect(problems.some((each) => each.line === 2)).toBe(true);
	});

	it("C1 takes JSON by its ending, and no YAML in its place", () => {
		expect(check("runtime.json", "runtime: x").problems.map((each) => each.code)).toEqual(["yaml.syntax"]);
		expect(
			check("x/.living/manifest.yaml", JSON.stringify({ protocol_version: "v0.1" })).problems.length,
		).toBeGreaterThan(0);
	});
});

describe("validating files", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "mortise-validate-"));
	});
	afterEach(() => rmSync(folder, { recursive: true, force: true }));

	it("names what cannot be read, and never rejects", async () => {
		expect((await validateFile(join(folder, "absent.yaml"))).problems[0]?.code).toBe("file.unreadable");
		expect((await validateFile(folder)).problems[0]?.code).toBe("file.unreadable");
		writeFileSync(join(folder, "mortise.yaml"), `home: ${"x".repeat(300 * 1024)}`);
		expect((await validateFile(join(folder, "mortise.yaml"))).problems[0]?.code).toBe("yaml.too_large");
	});
});

describe("reports", () => {
	const problems: readonly Problem[] = [
		{
			code: "schema.invalid",
			file: "a dir/é.yaml",
			line: 3,
			column: 7,
			pointer: "/a/b",
			message: "wrong",
			fix: "Correct it.",
		},
		{ code: "file.unreadable", file: "/tmp/absent\n.yaml", line: 0, column: 0, pointer: "", message: "gone" },
	];

	it("as text are one line each, the fix below", () => {
		expect(formatProblems(problems, "text").split("\n")).toEqual([
			"a dir/é.yaml:3:7: wrong at /a/b [schema.invalid]",
			"  fix: Correct it.",
			"/tmp/absent\\u{a}.yaml: gone [file.unreadable]",
		]);
		expect(formatProblems([], "text")).toBe("");
	});

	it("as json are one value with everything", () => {
		expect(JSON.parse(formatProblems(problems, "json"))).toEqual({ problems });
	});

	it("as sarif fit SARIF 2.1.0: version, driver, rules, locations as URIs, regions from 1", () => {
		const log = JSON.parse(formatProblems(problems, "sarif"));
		// the parts of the standard's own schema that this log uses
		const text = { type: "object", required: ["text"], properties: { text: { type: "string" } } };
		const region = {
			type: "object",
			properties: { startLine: { type: "integer", minimum: 1 }, startColumn: { type: "integer", minimum: 1 } },
		};
		const physical = {
			type: "object",
			required: ["artifactLocation"],
			additionalProperties: false,
			properties: { artifactLocation: { properties: { uri: { type: "string", pattern: "^[!-~]+$" } } }, region },
		};
		const result = {
			type: "object",
			required: ["message", "ruleId", "level"],
			additionalProperties: false,
			properties: {
				ruleId: { type: "string" },
				ruleIndex: { type: "integer", minimum: 0 },
				level: { enum: ["none", "note", "warning", "error"] },
				message: text,
				locations: {
					items: {
						additionalProperties: false,
						properties: {
							physicalLocation: physical,
							logicalLocations: { items: { properties: { fullyQualifiedName: { type: "string" } } } },
						},
					},
				},
			},
		};
		const schema = {
			type: "object",
			required: ["version", "runs"],
			properties: {
				version: { const: "2.1.0" },
				runs: { minItems: 1, items: { required: ["tool", "results"], properties: { results: { items: result } } } },
			},
		};
		const validate = new Ajv2020({ strict: false }).compile(schema);
		expect(validate(log), JSON.stringify(validate.errors)).toBe(true);
		expect(log.runs[0].results[0].locations[0].physicalLocation).toEqual({
			artifactLocation: { uri: "a%20dir/%C3%A9.yaml" },
			region: { startLine: 3, startColumn: 7 },
		});
		const names = log.runs[0].tool.driver.rules.map((each: { id: string }) => each.id);
		for (const each of log.runs[0].results) expect(names[each.ruleIndex]).toBe(each.ruleId);
	});
});
