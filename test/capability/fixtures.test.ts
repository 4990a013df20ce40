import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { matchDocument, matchFiles } from "../../src/capability/index.js";
import { readDocument } from "../../src/capability/read-file.js";
import { AgentManifest, RuntimeDocument } from "../../src/contract/index.js";

const root = fileURLToPath(new URL("../fixtures/runtime/", import.meta.url));
const fixtures = readdirSync(root).sort();
const compile = (name: string) => {
	const schema = JSON.parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), "utf8"));
	return new Ajv2020({ strict: true, allErrors: true }).compile(schema);
};
const validate = compile("runtime.schema.json");
const validateManifest = compile("agent-manifest.schema.json");

const all = ["protocol_version", "agent_capabilities", "isolation_profile", "state_publication"];
/** The rules a fixture fails: by the first word of its name, or named here. */
const failing: { readonly [name: string]: readonly string[] } = {
	version: ["protocol_version"],
	capability: ["agent_capabilities"],
	capabilities: ["agent_capabilities"],
	isolation: ["isolation_profile"],
	state: ["state_publication"],
	document: ["schema"],
	every: all,
	manifest: all,
	three: ["protocol_version", "isolation_profile", "state_publication"],
	match: [],
};

function pathsOf(name: string) {
	const json = join(root, name, "runtime.json");
	const runtime = existsSync(json) ? json : join(root, name, "runtime.yaml");
	return { runtime, manifest: join(root, name, ".living/manifest.yaml") };
}

describe("the fixtures", () => {
	it("C9 hold at least 14 directories that match and 28 that do not, in YAML and in JSON", () => {
		const matching = fixtures.filter((name) => name.startsWith("match"));
		expect(matching.length).toBeGreaterThanOrEqual(14);
		expect(fixtures.length - matching.length).toBeGreaterThanOrEqual(28);
		expect(fixtures.some((name) => pathsOf(name).runtime.endsWith(".json"))).toBe(true);
	});

	it.each(fixtures)("C5 C9 %s fails exactly the rules it is about", async (name) => {
		const { runtime, manifest } = pathsOf(name);
		const expected = failing[name.split("-", 1)[0] ?? ""];
		const result = await matchFiles(runtime, manifest);
		expect(result.failures.map((each) => each.rule)).toEqual(expected);
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
