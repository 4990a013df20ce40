import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { matchDocument, matchFiles } from "../../src/capability/index.js";
import { readDocument } from "../../src/capability/read-file.js";
import { AgentManifest, RuntimeDocument } from "../../src/contract/index.js";
import { failingRules, fixtures, pathsOf } from "./runtime-fixtures.js";

const compile = (name: string) => {
	const schema = JSON.parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), "utf8"));
	return new Ajv2020({ strict: true, allErrors: true }).compile(schema);
};
const validate = compile("runtime.schema.json");
const validateManifest = compile("agent-manifest.schema.json");

describe("the fixtures", () => {
	it("C9 hold at least 14 directories that match and 28 that do not, in YAML and in JSON", () => {
		const matching = fixtures.filter((name) => name.startsWith("match"));
		expect(matching.length).toBeGreaterThanOrEqual(14);
		expect(fixtures.length - matching.length).toBeGreaterThanOrEqual(28);
		expect(fixtures.some((name) => pathsOf(name).runtime.endsWith(".json"))).toBe(true);
	});

	it.each(fixtures)("C5 C9 %s fails exactly the rules it is about", async (name) => {
		const { runtime, manifest } = pathsOf(name);
		const result = await matchFiles(runtime, manifest);
		expect(result.failures.map((each) => each.rule)).toEqual(failingRules(name));
		expect(result.match).toBe(name.startsWith("match"));
		for (const { message } of result.failures) expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
	});

	it.each(fixtures)("C1 C2 C3 a stock validator with the shipped schema agrees with zod on %s", (name) => {
		const { runtime } = pathsOf(name);
		const text = readFileSync(runtime, "utf8");
		let value: unknown;
		if (runtime.endsWith(".json")) {
			try {
				value = JSON.parse(text);
			} catch {
				return;
			}
		} else {
			value = readDocument(Buffer.from(text), runtime).document?.value;
		}
		const byMatch = !matchDocument(value, {}).failures.some((each) => each.rule === "schema");
		expect(byMatch).toBe(validate(value));
		if (!name.includes("forbidden")) expect(RuntimeDocument.safeParse(value).success).toBe(byMatch);
	});

	it.each(fixtures)("the schema of manifests agrees with zod on %s", (name) => {
		const { manifest } = pathsOf(name);
		const value = readDocument(readFileSync(manifest), manifest).document?.value;
		expect(AgentManifest.safeParse(value).success).toBe(validateManifest(value));
	});
});
