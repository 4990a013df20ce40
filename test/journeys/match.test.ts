import { describe, expect, it } from "vitest";
import { failingRules, fixtures, pathsOf } from "../capability/runtime-fixtures.js";
import { aFolder, mortise, type Ran, writeFiles } from "./workshop.js";

const rulesOf = ({ stdout }: Ran): string[] =>
	stdout.split("\n").flatMap((line) => /^([a-z_]+): ./.exec(line)?.[1] ?? []);
const linesOf = ({ stdout }: Ran): number => stdout.split("\n").length - 1;

/** Each of the values through `work`, four at a time. */
async function fourAtATime<T, R>(values: readonly T[], work: (value: T) => Promise<R>): Promise<readonly R[]> {
	const results: R[] = [];
	const queue = [...values.entries()];
	const lane = async (): Promise<void> => {
		for (let next = queue.shift(); next !== undefined; next = queue.shift()) results[next[0]] = await work(next[1]);
	};
	await Promise.all([lane(), lane(), lane(), lane()]);
	return results;
}

describe("match, through the command line", () => {
	it("C7 C9 says of every fixture what its name says: exit code 0 or 1, and one escaped line a failing rule", async () => {
		const home = await aFolder();
		const matching = fixtures.filter((name) => name.startsWith("match"));
		expect(matching.length).toBeGreaterThanOrEqual(12);
		expect(fixtures.length - matching.length).toBeGreaterThanOrEqual(25);
		const runs = await fourAtATime(fixtures, async (name) => {
			const { runtime, manifest } = pathsOf(name);
			return { name, ran: await mortise(["match", runtime, manifest], { home }) };
		});
		for (const { name, ran } of runs) {
			expect(ran.status, name).toBe(name.startsWith("match") ? 0 : 1);
			expect(rulesOf(ran), name).toEqual(failingRules(name));
			expect(linesOf(ran), name).toBe(failingRules(name).length);
			expect(ran.stdout.replaceAll("\n", ""), name).not.toMatch(/[\p{Cc}\p{Cf}]/u);
			expect(ran.stderr, name).toBe(name.startsWith("match") ? "match\n" : "");
		}
	}, 120_000);

	it("C7 writes the same as one JSON value, and nothing else on stdout", async () => {
		const home = await aFolder();
		const { runtime, manifest } = pathsOf("every-rule-at-once");
		const ran = await mortise(["match", runtime, manifest, "--json"], { home });
		const { match, failures } = ran.json();
		expect(ran.status).toBe(1);
		expect(match).toBe(false);
		expect(failures.map((each: { rule: string }) => each.rule)).toEqual(failingRules("every-rule-at-once"));
		for (const each of failures) expect(each).toEqual({ rule: expect.any(String), message: expect.any(String) });
		const matching = pathsOf("match-protocol-example");
		const matched = await mortise(["match", matching.runtime, matching.manifest, "--json"], { home });
		expect([matched.status, matched.json()]).toEqual([0, { match: true, failures: [] }]);
	});

	it("C7 escapes what a manifest says, so that a value makes no line and no terminal command of its own", async () => {
		const home = await aFolder();
		const hostile = '"file\\nschema: forged\\e]0;title\\a\\u202e"';
		await writeFiles(home, {
			".living/manifest.yaml": `protocol_version: v0.1.0\nagent_capabilities: []\nisolation_profile: ${hostile}\nstate_publication: { target: ${hostile} }\n`,
		});
		const { runtime } = pathsOf("match-protocol-example");
		const ran = await mortise(["match", runtime, ".living/manifest.yaml"], { home });
		expect(ran.status).toBe(1);
		expect(rulesOf(ran)).toEqual(["isolation_profile", "state_publication"]);
		expect(linesOf(ran)).toBe(2);
		expect(ran.stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
	});

	it("C7 takes what it cannot read for no match: 1, never a crash", async () => {
		const home = await aFolder();
		await writeFiles(home, { "binary.yaml": new Uint8Array([0xff, 0xfe, 0, 1]), "empty.yaml": "" });
		const { runtime, manifest } = pathsOf("match-protocol-example");
		const unreadable = await fourAtATime(["absent.yaml", ".", "binary.yaml", "empty.yaml", manifest], (file) =>
			mortise(["match", file, manifest], { home }),
		);
		for (const ran of unreadable) expect([ran.status, rulesOf(ran), linesOf(ran)]).toEqual([1, ["schema"], 1]);
		const without = await fourAtATime(["absent.yaml", ".", "binary.yaml"], (file) =>
			mortise(["match", runtime, file], { home }),
		);
		for (const ran of without)
			expect([ran.status, rulesOf(ran), linesOf(ran)]).toEqual([1, failingRules("manifest"), 4]);
	});

	it("C7 keeps 2 for wrong arguments, with nothing on stdout or, for --json, the error alone", async () => {
		const home = await aFolder();
		const { runtime, manifest } = pathsOf("match-protocol-example");
		for (const args of [[], [runtime], [runtime, manifest, manifest], [runtime, manifest, "--strict"]]) {
			const ran = await mortise(["match", ...args], { home });
			expect([ran.status, ran.stdout]).toEqual([2, ""]);
			expect(ran.stderr).not.toBe("");
		}
		const ran = await mortise(["match", runtime, "--json"], { home });
		expect(ran.status).toBe(2);
		expect(ran.json()).toMatchObject({ error: { code: "usage", owner: "operator" } });
	});
});
