import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveDocument, documentBytes } from "../../src/capability/index.js";
import { RuntimeDocument } from "../../src/contract/index.js";
import { describeProbed } from "../../src/isolation/index.js";
import { registryOf } from "../../src/runtime/registry.js";
import { readYaml } from "../../src/yaml.js";
import { aHome, anEsmBundle, answerText, aRuntime, type Files, mortise, root, writeFiles } from "./workshop.js";

const speaks = answerText(`"said"`);
/** Bundles of every kind a document tells of; two of them want one name, and one wants a native tool's. */
const bundles: readonly Files[] = [
	anEsmBundle("acme.first", { code: speaks, tools: [{ name: "shared" }, { name: "own_first" }] }),
	anEsmBundle("acme.second", { code: speaks, tools: [{ name: "shared" }, { name: "memory_store" }] }),
	anEsmBundle("acme.notes", { code: speaks, more: { provides: { memory: [{ name: "acme-notes" }] } } }),
	anEsmBundle("acme.bus", {
		code: speaks,
		more: { provides: { state_targets: ["acme-bus"], agent_capabilities: ["plan_trips"] } },
	}),
];

/** The bundles under names of folders that sort as given. */
function dropped(names: readonly string[]): { readonly [name: string]: Files } {
	return Object.fromEntries(bundles.map((files, index) => [names[index], files]));
}

async function docOf(home: string, args: readonly string[] = []): Promise<string> {
	const ran = await mortise(["doc", ...args], { home });
	expect(ran.status, ran.stderr).toBe(0);
	return ran.stdout;
}

async function capabilitiesOf(home: string): Promise<readonly string[]> {
	return JSON.parse(await docOf(home)).agent_capabilities;
}

describe("the capability document, through the command line", () => {
	it("C12 has the same bytes twice, and whatever the folders of the bundles are called", async () => {
		const homes = await Promise.all([
			aHome(dropped(["a", "b", "c", "d"])),
			aHome(dropped(["z", "y", "x", "w"])),
			aHome(dropped(["m", "10", "2", "a-long-name"])),
		]);
		const once = await docOf(homes[0]);
		expect(await docOf(homes[0])).toBe(once);
		for (const home of homes.slice(1)) expect(await docOf(home)).toBe(once);
		// what they differ by in order is really in it
		const document = JSON.parse(once);
		expect(document["x-dropped-tools"].map((each: { name: string }) => each.name)).toEqual(["memory_store", "shared"]);
		expect(document.state_publication_targets).toContain("acme-bus");
	});

	it("C12 R81 has the same bytes for a real loaded set in a hundred shuffled orders", async () => {
		const { runtime } = await aRuntime({ bundles: dropped(["a", "b", "c", "d"]) });
		const { set, registry, settings, profiles, document } = runtime;
		expect(set.plugins.length).toBeGreaterThanOrEqual(9);
		const natives = registry.tools.filter((tool) => tool.origin === "native");
		const expected = documentBytes(document, "json");
		const shuffled = <T>(values: readonly T[]) => fc.shuffledSubarray([...values], { minLength: values.length });
		fc.assert(
			fc.property(
				shuffled(set.plugins),
				shuffled(natives),
				shuffled(profiles),
				shuffled(set.nativeStateTargets),
				(plugins, native, probed, nativeStateTargets) => {
					const loaded = { ...set, plugins, nativeStateTargets };
					const { tools, drops } = registryOf(loaded, native);
					const derived = deriveDocument({
						name: settings.runtime.name,
						protocolVersions: settings.runtime.protocol_versions,
						set: loaded,
						tools,
						drops,
						isolation: describeProbed(probed),
					});
					expect(documentBytes(derived, "json")).toEqual(expected);
				},
			),
			{ numRuns: 100 },
		);
	});

	it("C10 loses remember with the last memory source, and has it again with the first", async () => {
		const home = await aHome({
			notes: anEsmBundle("acme.notes", { code: speaks, more: { provides: { memory: [{ name: "acme-notes" }] } } }),
			tool: anEsmBundle("acme.tool", { code: speaks }),
		});
		await writeFiles(home, { "mortise.yaml": "bundles: { first_party: false }\nnative: { memory: false }\n" });
		expect(await capabilitiesOf(home)).toEqual(["publish_state", "remember", "use_tools"]);
		expect((await mortise(["plugin", "disable", "acme.notes"], { home })).status).toBe(0);
		const without = await docOf(home);
		expect(JSON.parse(without).agent_capabilities).toEqual(["publish_state", "use_tools"]);
		expect(without).not.toContain("acme.notes");
		expect((await mortise(["plugin", "enable", "acme.notes"], { home })).status).toBe(0);
		expect(await capabilitiesOf(home)).toContain("remember");
		expect((await mortise(["plugin", "remove", "acme.notes"], { home })).status).toBe(0);
		expect(await docOf(home)).toBe(without);
		await writeFiles(home, { "mortise.yaml": "bundles: { first_party: false }\nnative: { memory: true }\n" });
		expect(await capabilitiesOf(home)).toContain("remember");
	});

	it("C1 C2 C3 fits the shipped schema by a stock validator, and zod; YAML and JSON say the same", async () => {
		const home = await aHome(dropped(["a", "b", "c", "d"]));
		const json = await docOf(home);
		const yaml = await docOf(home, ["--format", "yaml"]);
		const value = JSON.parse(json);
		const schema = JSON.parse(await readFile(join(root, "schemas/runtime.schema.json"), "utf8"));
		const validate = new Ajv2020({ strict: true, allErrors: true }).compile(schema);
		expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
		expect(RuntimeDocument.parse(value)).toEqual(value);
		const read = readYaml(yaml, "runtime.yaml");
		expect([read.problems, read.document?.value]).toEqual([[], value]);
		expect(yaml).not.toBe(json);
		// and what prints it accepts it
		for (const [name, text] of [
			["runtime.json", json],
			["runtime.yaml", yaml],
		] as const) {
			await writeFiles(home, { [name]: text });
			const checked = await mortise(["validate", name, "--strict"], { home });
			expect([checked.status, checked.stdout]).toEqual([0, ""]);
		}
	});

	it("C4 C12 is the same written to a file, by the file's ending, as printed", async () => {
		const home = await aHome();
		const ran = await mortise(["doc", "-o", "out/runtime.yaml", "--json"], { home });
		expect(ran.json()).toEqual({ file: "out/runtime.yaml", etag: expect.stringMatching(/^"sha256-[0-9a-f]{64}"$/) });
		expect(await readFile(join(home, "out/runtime.yaml"), "utf8")).toBe(await docOf(home, ["--format", "yaml"]));
	});

	it("C11 holds no secret, no config value, no description, no grant and no path of the machine", async () => {
		const home = await aHome({
			keeper: anEsmBundle("acme.keeper", {
				code: `await host.log({ level: "info", message: "canary-code" }); ${speaks}`,
				tools: [{ name: "keep", input: { type: "object", properties: { canary_argument: { type: "string" } } } }],
				more: {
					description: "canary-description",
					permissions: {
						http: { hosts: ["canary.acme.test"], reason: "canary-reason" },
						secrets: [{ name: "CANARY_KEY", use: "header authorization on canary.acme.test", reason: "canary-why" }],
					},
					config: {
						type: "object",
						additionalProperties: false,
						properties: { place: { type: "string", default: "canary-default" } },
					},
				},
			}),
		});
		const grant = { http: ["canary.acme.test"], secrets: ["CANARY_KEY"], config: { place: "canary-setting" } };
		await writeFiles(home, {
			"mortise.yaml": JSON.stringify({
				grants: { "acme.keeper": grant },
				agents: {
					"canary-agent": { instructions: "canary-instructions", policy: { workspace: "./canary-workspace" } },
				},
			}),
		});
		const environment = { CANARY_KEY: "canary-environment-value" };
		const kept = await mortise(["secret", "set", "CANARY_KEY"], { home, input: "canary-secret-value\n" });
		expect(kept.status, kept.stderr).toBe(0);
		const loaded = await mortise(["plugin", "list", "--json"], { home, environment });
		expect(loaded.json()).toContainEqual(expect.objectContaining({ id: "acme.keeper", state: "loaded", missing: [] }));
		for (const format of ["json", "yaml"]) {
			const ran = await mortise(["doc", "--format", format], { home, environment });
			expect(ran.status).toBe(0);
			expect(ran.stdout).toContain("acme.keeper");
			expect(ran.stdout.toLowerCase()).not.toContain("canary");
			expect(ran.stdout).not.toMatch(/(^|["\s])\/\w/m);
			expect(ran.stdout).not.toContain(root);
			expect(ran.stdout).not.toContain(home);
		}
	});
});
