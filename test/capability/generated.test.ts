import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Manifest } from "@mortise/sdk/contract";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { deriveDocument, embeddedDocument, matchFiles, publishDocument } from "../../src/capability/index.js";
import { AgentManifest, Config, RuntimeDocument } from "../../src/contract/index.js";
import { anInput } from "./builders.js";

const root = fileURLToPath(new URL("../../", import.meta.url));
const schemas = {
	"runtime.schema.json": RuntimeDocument,
	"plugin.schema.json": Manifest,
	"agent-manifest.schema.json": AgentManifest,
	"config.schema.json": Config,
};

describe("the shipped schemas", () => {
	it.each(Object.entries(schemas))("C1 %s says what zod says now, and a stock validator takes it", (name, schema) => {
		const { title, ...shipped } = JSON.parse(readFileSync(join(root, "schemas", name), "utf8"));
		const { title: _, ...current } = z.toJSONSchema(schema, { target: "draft-2020-12", io: "input" });
		expect(shipped).toEqual(JSON.parse(JSON.stringify(current)));
		expect(title).toMatch(/\w/);
		expect(() => new Ajv2020({ strict: false }).compile(shipped)).not.toThrow();
	});

	it("C1 the check of the build finds none of them stale", () => {
		expect(readdirSync(join(root, "schemas")).sort()).toEqual(Object.keys(schemas).sort());
		const run = spawnSync(process.execPath, [join(root, "scripts/generate.mjs"), "--check"], { encoding: "utf8" });
		expect(run.stderr).toBe("");
		expect(run.status).toBe(0);
	});
});

describe("the embedded document", () => {
	const embedded = () => {
		const { set, isolation: _, ...rest } = anInput();
		const { nativeMemory, nativeStateTargets } = set;
		const bundles = set.plugins.map((plugin) => plugin.bundle);
		return embeddedDocument({ ...rest, bundles, nativeMemory, nativeStateTargets });
	};

	it("C4 is derived as the live one is, and claims only profiles that need nothing of the machine", () => {
		const document = embedded();
		expect(document.isolation_profiles).toEqual(["in-process", "wasm", "wasm-js"]);
		expect(RuntimeDocument.safeParse(document).success).toBe(true);
		const live = deriveDocument(anInput());
		expect(document["x-sources"]).toEqual(live["x-sources"]);
		expect(document.agent_capabilities).toEqual(live.agent_capabilities);
	});

	it("C4 the one that ships is valid and has the first-party provider in it", () => {
		const file = join(root, "dist/living-repos-runtime.json");
		const document = JSON.parse(readFileSync(file, "utf8"));
		expect(RuntimeDocument.safeParse(document).success).toBe(true);
		expect(document.agent_capabilities).toContain("run_tasks");
		expect(document.isolation_profiles).toEqual(["in-process", "wasm", "wasm-js"]);
		const digests = JSON.parse(readFileSync(join(root, "dist/first-party.json"), "utf8"));
		for (const source of document["x-sources"]) {
			if (source.bundle !== undefined) expect(source.digest).toBe(digests[source.bundle]);
		}
	});
});

describe("a published document", () => {
	it("C4 C12 is written whole in the format of its name, with folders made, and can be matched", async () => {
		const folder = mkdtempSync(join(tmpdir(), "mortise-publish-"));
		try {
			const document = deriveDocument(anInput());
			const json = await publishDocument(document, join(folder, "a/b/runtime.json"));
			const again = await publishDocument(document, join(folder, "a/b/runtime.json"));
			await publishDocument(document, join(folder, "runtime.yaml"));
			expect(again).toEqual(json);
			expect(readdirSync(join(folder, "a/b"))).toEqual(["runtime.json"]);
			const fixture = join(root, "test/fixtures/runtime/manifest-empty/.living/manifest.yaml");
			for (const name of ["a/b/runtime.json", "runtime.yaml"]) {
				const { failures } = await matchFiles(join(folder, name), fixture);
				expect(failures.map((each) => each.rule)).not.toContain("schema");
			}
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	});
});
