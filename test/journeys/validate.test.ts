import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Problem } from "../../src/contract/index.js";
import { pathsOf } from "../capability/runtime-fixtures.js";
import { aFolder, mortise, root, writeFiles } from "./workshop.js";

/** Nine mistakes, one a line. */
const nineMistakes = `contract: 2
id: Bad Id
version: one
description: ""
runtime: lua
entry: ../up.wasm
isolation: none
provides: { tools: [{ name: "a b", description: x }] }
colour: red
`;
const pointers = [
	"/contract",
	"/id",
	"/version",
	"/description",
	"/runtime",
	"/entry",
	"/isolation",
	"/provides/tools/0/name",
	"/colour",
];
const agent = `protocol_version: v0.1.0
agent_capabilities: [run_tasks]
isolation_profile: wasm
state_publication: { target: file }
`;
const placed = (problems: readonly Problem[]) => problems.map(({ line, pointer }) => [line, pointer]);

describe("validate, through the command line", () => {
	it("gives nine separate mistakes of a plugin.yaml as nine problems, each with its file, line and column", async () => {
		const home = await writeFiles(await aFolder(), { "plugin.yaml": nineMistakes });
		const ran = await mortise(["validate", "plugin.yaml"], { home });
		expect(ran.status).toBe(1);
		const found = ran.stdout.split("\n").filter((line) => !line.startsWith("  fix: ") && line !== "");
		const places = found.map((line) => /^plugin\.yaml:(\d+):(\d+): \S.* at (\/\S+) \[[a-z_.]+\]$/.exec(line)?.slice(1));
		expect(places.map((each) => [Number(each?.[0]), each?.[2]])).toEqual(
			pointers.map((pointer, index) => [index + 1, pointer]),
		);
		// the place is where the value is written
		for (const [line = 0, column = 0] of places.map((each) => each?.map(Number) ?? [])) {
			const text = nineMistakes.split("\n")[line - 1] ?? "";
			expect(text.slice(column - 1)).toMatch(/^(2|Bad|one|""|lua|\.\.|none|"a b"|colour)/);
		}
	});

	it("gives the same nine as one JSON value, by --format json and by --json", async () => {
		const home = await writeFiles(await aFolder(), { "plugin.yaml": nineMistakes });
		const [byFormat, byOption] = await Promise.all([
			mortise(["validate", "plugin.yaml", "--format", "json"], { home }),
			mortise(["validate", "plugin.yaml", "--json"], { home }),
		]);
		expect([byFormat.status, byOption.status]).toEqual([1, 1]);
		expect(byFormat.json()).toEqual(byOption.json());
		const { problems } = byOption.json();
		expect(placed(problems)).toEqual(pointers.map((pointer, index) => [index + 1, pointer]));
		for (const each of problems)
			expect(each).toEqual({
				code: expect.stringMatching(/^[a-z]+\.[a-z_]+$/),
				file: "plugin.yaml",
				line: expect.any(Number),
				column: expect.any(Number),
				pointer: expect.any(String),
				message: expect.any(String),
				fix: expect.any(String),
			});
	});

	it("gives them as a SARIF 2.1.0 log that a code host can place", async () => {
		const home = await writeFiles(await aFolder(), { "plugin.yaml": nineMistakes });
		const [ran, json] = await Promise.all([
			mortise(["validate", "plugin.yaml", "--format", "sarif"], { home }),
			mortise(["validate", "plugin.yaml", "--json"], { home }),
		]);
		expect(ran.status).toBe(1);
		const log = ran.json();
		expect(log).toMatchObject({ version: "2.1.0", $schema: expect.stringContaining("sarif-2.1.0") });
		expect(log.runs).toHaveLength(1);
		const [{ tool, results }] = log.runs;
		const rules = tool.driver.rules.map((rule: { id: string }) => rule.id);
		expect(tool.driver.name).toBe("mortise");
		expect(results).toHaveLength(9);
		const regions = json.json().problems.map(({ line, column }: Problem) => ({ startLine: line, startColumn: column }));
		for (const [index, result] of results.entries()) {
			expect(rules[result.ruleIndex]).toBe(result.ruleId);
			expect(result.level).toBe("error");
			expect(result.message.text).not.toBe("");
			expect(result.locations).toHaveLength(1);
			const { artifactLocation, region } = result.locations[0].physicalLocation;
			expect(artifactLocation).toEqual({ uri: "plugin.yaml" });
			expect(region).toEqual(regions[index]);
		}
		const sound = await mortise(["validate", join(root, "plugins/text-kit/plugin.yaml"), "--format", "sarif"], {
			home,
		});
		expect([sound.status, sound.json().runs[0].results]).toEqual([0, []]);
	});

	it("accepts what it does not understand in an agent's manifest, and reports it with --strict", async () => {
		const text = agent.replace("[run_tasks]", "[run_tasks, run_tasks]");
		const home = await writeFiles(await aFolder(), { ".living/manifest.yaml": `${text}owner: me\nx-own: 1\n` });
		const lenient = await mortise(["validate", ".living/manifest.yaml", "--json"], { home });
		expect([lenient.status, lenient.json()]).toEqual([0, { problems: [] }]);
		const strict = await mortise(["validate", ".living/manifest.yaml", "--strict", "--json"], { home });
		expect(strict.status).toBe(1);
		const { problems } = strict.json();
		expect(placed(problems)).toEqual([
			[2, "/agent_capabilities/1"],
			[5, "/owner"],
		]);
		expect(problems.map((each: Problem) => each.code)).toEqual(["validate.warning", "validate.warning"]);
		const sarif = await mortise(["validate", ".living/manifest.yaml", "--strict", "--format", "sarif"], { home });
		expect(sarif.json().runs[0].results.map((each: { level: string }) => each.level)).toEqual(["warning", "warning"]);
	});

	it("C1 checks a configuration, a runtime document and a manifest in one run, in the order they were named", async () => {
		const home = await writeFiles(await aFolder(), {
			"mortise.yaml": "pool:\n  threads: many\nagents:\n  helper:\n    memry: sqlite\n",
			"runtime.yaml":
				"runtime: r\nprotocol_versions: [v0.3.1]\nisolation_profiles: []\nstate_publication_targets: [file]\n",
			".living/manifest.yaml": agent.replace("wasm", "[wasm]"),
		});
		const files = ["runtime.yaml", "mortise.yaml", ".living/manifest.yaml"];
		const ran = await mortise(["validate", ...files, "--json"], { home });
		expect(ran.status).toBe(1);
		const found = ran.json().problems.map(({ file, line, pointer }: Problem) => [file, line, pointer]);
		expect(found).toEqual([
			["runtime.yaml", 1, "/agent_capabilities"],
			["runtime.yaml", 2, "/protocol_versions/0"],
			["runtime.yaml", 3, "/isolation_profiles"],
			["mortise.yaml", 2, "/pool/threads"],
			["mortise.yaml", 5, "/agents/helper/memry"],
			[".living/manifest.yaml", 3, "/isolation_profile"],
		]);
	});

	it("ends with 0 only with no problem at all, 1 with any, and 2 for a wrong command line", async () => {
		const home = await writeFiles(await aFolder(), {
			"mortise.yaml": "{}\n",
			".living/manifest.yaml": agent,
			"broken.yaml": "a: [\n",
			"nothing-known.yaml": "x: 1\n",
		});
		const { runtime } = pathsOf("match-protocol-example");
		const sound = ["mortise.yaml", ".living/manifest.yaml", runtime, join(root, "plugins/text-kit/plugin.yaml")];
		const ran = await mortise(["validate", ...sound], { home });
		expect([ran.status, ran.stdout]).toEqual([0, ""]);
		for (const file of ["absent.yaml", "broken.yaml", "nothing-known.yaml", "."]) {
			const failed = await mortise(["validate", ...sound, file, "--json"], { home });
			expect(failed.status, file).toBe(1);
			expect(failed.json().problems, file).toHaveLength(1);
			expect(failed.json().problems[0].file, file).toBe(file);
		}
		for (const args of [[], ["mortise.yaml", "--format", "xml"], ["mortise.yaml", "--strct"]]) {
			const wrong = await mortise(["validate", ...args], { home });
			expect([wrong.status, wrong.stdout]).toEqual([2, ""]);
		}
	});

	it("escapes what a file says, so that a name makes no line and no terminal command of its own", async () => {
		const home = await writeFiles(await aFolder(), {
			"plugin.yaml": '"\\e]0;title\\a": 1\n"two\\nplugin.yaml:1:1: forged": 2\ncontract: 1\n',
		});
		const ran = await mortise(["validate", "plugin.yaml"], { home });
		expect(ran.status).toBe(1);
		expect(ran.stdout).toContain("\\u{1b}]0;title\\u{7}");
		expect(ran.stdout).not.toMatch(/(?!\n)\p{Cc}/u);
		expect(ran.stdout.split("\n").filter((line) => line.includes("forged"))).toEqual([
			expect.stringMatching(/^plugin\.yaml:2:1: .*\\u\{a\}/),
		]);
	});
});
