import { describe, expect, it } from "vitest";
import { type CompileSchema, readManifest } from "../../src/bundle/index.js";
import { aManifest } from "../fixtures/bundle/corpus.js";

const whole = `contract: 1
id: acme.weather
version: 1.2.0
description: Weather by city
license: MIT
runtime: wasm
entry: plugin.wasm
isolation: wasm-js
provides:
  tools:
    - name: weather_now
      description: The weather of a city
      input: { type: object, properties: { city: { type: string } }, required: [city] }
      effects: [network]
    - name: count_vowels
      description: Counts
      export: count_vowels
      input: text
  providers: [{ name: acme, models: [acme-1], features: [tools] }]
permissions:
  http: { hosts: ["api.acme.test", "*.cdn.test:8443"], reason: fetch }
  secrets:
    - { name: ACME_KEY, use: "header authorization on api.acme.test", reason: pay }
    - { name: CDN_KEY, use: "header x-key on a.cdn.test:8443" }
  kv: true
config: { type: object, additionalProperties: false, properties: { unit: { type: string } } }
limits: { memory: 64MiB, cpu: 250ms }
`;

function problemsOf(text: string, compile?: CompileSchema): string[] {
	return readManifest(Buffer.from(text), "plugin.yaml", compile).problems.map(
		({ code, line, pointer }) => `${line} ${code} ${pointer}`,
	);
}

function changed(from: string | RegExp, to: string): string {
	const text = whole.replace(from, to);
	if (text === whole) throw new Error("nothing was changed");
	return text;
}

describe("readManifest", () => {
	it("reads a whole manifest", () => {
		const read = readManifest(Buffer.from(whole), "plugin.yaml");
		expect(read.problems).toEqual([]);
		expect(read.manifest?.provides.tools?.map((tool) => tool.name)).toEqual(["weather_now", "count_vowels"]);
		expect(read.claims).toEqual({
			id: "acme.weather",
			version: "1.2.0",
			runtime: "wasm",
			entry: "plugin.wasm",
			kinds: ["tool", "provider"],
		});
	});

	it("gives nine problems for nine separate mistakes, each with its place, pointer and code", () => {
		const text = `contract: 2
id: Acme Weather
version: one
description: d
runtime: wasm
entry: plugin.js
isolation: titanium
nonsense: true
provides:
  tools:
    - name: shell
      description: d
      input: { type: object }
    - name: twice
      description: d
      input: json
    - name: twice
      description: d
      export: twice
      input: json
`;
		expect(problemsOf(text)).toEqual([
			"1 bundle.contract_version /contract",
			"2 schema.invalid /id",
			"3 schema.invalid /version",
			"6 bundle.entry_mismatch /entry",
			"7 schema.invalid /isolation",
			"8 schema.invalid /nonsense",
			"11 bundle.reserved_name /provides/tools/0/name",
			"16 bundle.input_needs_export /provides/tools/1/input",
			"17 bundle.duplicate_name /provides/tools/2/name",
		]);
		for (const problem of readManifest(text, "plugin.yaml").problems) {
			expect(problem.column).toBeGreaterThan(0);
			expect(problem.fix).toBeTruthy();
		}
	});

	it.each([
		["contract: 1", "contract: 99", "1 bundle.contract_version /contract"],
		["contract: 1", "contract: one", "1 schema.invalid /contract"],
		["entry: plugin.wasm", "entry: plugin.mjs", "7 bundle.entry_mismatch /entry"],
		["entry: plugin.wasm", "entry: ../plugin.txt", "7 schema.invalid /entry"],
		["name: weather_now", "name: shell", "11 bundle.reserved_name /provides/tools/0/name"],
		["name: weather_now", "name: count_vowels", "15 bundle.duplicate_name /provides/tools/1/name"],
		["name: weather_now", "name: we ather", "11 schema.invalid /provides/tools/0/name"],
		["input: text", "input: xml", "18 bundle.tool_input /provides/tools/1/input"],
		["      export: count_vowels\n", "", "17 bundle.input_needs_export /provides/tools/1/input"],
		[/input: \{ type: object, .*/, "input: { type: string }", "13 bundle.tool_input /provides/tools/0/input"],
		[/input: \{ type: object, .*/, "input: [1]", "13 bundle.tool_input /provides/tools/0/input"],
		["additionalProperties: false", "additionalProperties: true", "26 bundle.config_open /config"],
		["on api.acme.test", "on api.other.test", "23 bundle.secret_host /permissions/secrets/0/use"],
		["on a.cdn.test:8443", "on cdn.test:8443", "24 bundle.secret_host /permissions/secrets/1/use"],
		["on a.cdn.test:8443", "on a.cdn.test", "24 bundle.secret_host /permissions/secrets/1/use"],
		["on a.cdn.test:8443", "on A..CDN", "24 schema.invalid /permissions/secrets/1/use"],
		["license: MIT", "license: MIT\nlicence: MIT", "6 schema.invalid /licence"],
		["license: MIT", "license: MIT\nlicense: MIT", "6 yaml.duplicate_key /license"],
		["license: MIT", "__proto__: MIT", "5 yaml.forbidden_key /__proto__"],
		["memory: 64MiB", "memory: lots", "27 schema.invalid /limits/memory"],
	])("changing %s to %s is exactly one problem (R134 for shell, R133 for a name)", (from, to, expected) => {
		expect(problemsOf(changed(from, to))).toEqual([expected]);
	});

	it("refuses exports of an ESM bundle, which has none", () => {
		const text = `${aManifest("a.b")}      export: run\n`;
		expect(problemsOf(text)).toEqual(["12 bundle.export_needs_wasm /provides/tools/0/export"]);
	});

	it("takes wasm and wasm-js for the same floor", () => {
		expect(problemsOf(`${aManifest("a.b")}isolation: wasm\n`)).toEqual([]);
	});

	it("refuses a bundle behind which nothing can be called", () => {
		const none = aManifest("a.b").replace(/provides:[\s\S]*/, "provides: { agent_capabilities: [fly], tools: [] }\n");
		expect(problemsOf(none)).toEqual(["7 bundle.provides_nothing /provides"]);
	});

	it("compiles every schema of the manifest when it is given a compiler", () => {
		const compile: CompileSchema = (schema) =>
			JSON.stringify(schema).includes("wrong") ? { ok: false, detail: "no such type" } : { ok: true, check: () => [] };
		const text = `${aManifest("a.b").replace("type: string", "type: wrong")}      output: { type: wrong }
config: { type: object, additionalProperties: false, title: wrong }
`;
		expect(problemsOf(text, compile)).toEqual([
			"11 bundle.schema_invalid /provides/tools/0/input",
			"12 bundle.schema_invalid /provides/tools/0/output",
			"13 bundle.schema_invalid /config",
		]);
		expect(problemsOf(text)).toEqual([]);
	});

	it("gives a problem, never an exception, for a document of another shape", () => {
		for (const text of [
			"",
			"[]",
			"text",
			"provides: []",
			"provides: { tools: { a: 1 } }",
			"permissions: { secrets: [1] }",
		])
			expect(readManifest(text, "f").problems.length).toBeGreaterThan(0);
	});
});
