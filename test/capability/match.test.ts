import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { matchDocument, matchFiles } from "../../src/capability/index.js";
import { compareVersions, readVersion } from "../../src/capability/version.js";

const document = {
	runtime: "example-runtime",
	protocol_versions: ["v0.1"],
	agent_capabilities: ["run_tasks", "publish_state"],
	isolation_profiles: ["container", "sandbox-process"],
	state_publication_targets: ["control-process", "file"],
};
const manifest = {
	protocol_version: "v0.1.0",
	agent_capabilities: ["run_tasks"],
	isolation_profile: "container",
	state_publication: { target: "file" },
};
const anything = fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withSparseArray: true });
const rulesOf = (result: { failures: readonly { rule: string }[] }) => result.failures.map((each) => each.rule);

describe("versions", () => {
	it.each([
		[["v0.3"], "v0.3.9", true],
		[["v0.3"], "0.2", true],
		[["v0.3"], "v0.0.1", true],
		[["v0.3"], "v0.4", false],
		[["v0.3"], "v1.0", false],
		[["v0.1", "v1.2"], "v1.2.7", true],
		[["v0.1", "v1.2"], "v0.2", false],
		[["v0.1", "v1.2"], "v2.0", false],
		[["v0.10"], "v0.9", true],
		[["v0.9"], "v0.10", false],
	])("C5 a document of %j and a manifest of %s: %s", (protocol_versions, protocol_version, expected) => {
		const result = matchDocument({ ...document, protocol_versions }, { ...manifest, protocol_version });
		expect(result.match).toBe(expected);
	});

	it("C5 orders versions as numbers", () => {
		expect(["v0.10", "v1.0", "v0.9", "v0.2"].sort(compareVersions)).toEqual(["v0.2", "v0.9", "v0.10", "v1.0"]);
		expect(readVersion("v1.2.3")).toEqual({ major: 1n, minor: 2n });
		expect(readVersion("v1")).toBeUndefined();
	});
});

describe("matching", () => {
	it("C13 the protocol's own example validates and matches", () => {
		expect(matchDocument(document, manifest)).toEqual({ match: true, failures: [] });
	});

	it("C5 C7 reports every failing rule in one pass, one line a rule, with all values named and escaped", () => {
		const result = matchDocument(document, {
			protocol_version: "v9.0",
			agent_capabilities: ["fly", "two\nlines", "\u202eback"],
			isolation_profile: "\u001b[31mred",
			state_publication: { target: "moon" },
		});
		expect(rulesOf(result)).toEqual([
			"protocol_version",
			"agent_capabilities",
			"isolation_profile",
			"state_publication",
		]);
		const capabilities = result.failures[1]?.message ?? "";
		for (const name of ["fly", "two\\nlines", "\\u{202e}back"]) expect(capabilities).toContain(name);
		for (const { message } of result.failures) expect(message).not.toMatch(/[\p{Cc}\p{Cf}\n]/u);
	});

	it("C7 an absent list of capabilities fails rule 2, an empty one passes it", () => {
		const { agent_capabilities: _, ...without } = manifest;
		expect(rulesOf(matchDocument(document, without))).toEqual(["agent_capabilities"]);
		expect(matchDocument(document, { ...without, agent_capabilities: [] }).match).toBe(true);
	});

	it("C7 one schema line names every fault of an invalid document", () => {
		const result = matchDocument({ ...document, runtime: 7, isolation_profiles: [], owner: "x" }, manifest);
		expect(rulesOf(result)).toEqual(["schema"]);
		for (const part of ["runtime", "isolation_profiles", "owner"]) expect(result.failures[0]?.message).toContain(part);
	});

	it("C8 secrets play no part in matching", () => {
		expect(matchDocument(document, { ...manifest, secrets: ["NOT_SET_ANYWHERE"] }).match).toBe(true);
	});

	it("C7 reads only the manifest's own members, whatever its prototype", () => {
		expect(matchDocument(document, Object.create(manifest)).failures).toHaveLength(4);
		expect(
			rulesOf(matchDocument(JSON.parse(JSON.stringify(document).replace("{", '{"__proto__":{},')), manifest)),
		).toEqual(["schema"]);
	});

	it("C7 names a value that JSON cannot hold by its type", () => {
		const cycle: unknown[] = [];
		cycle.push(cycle);
		const result = matchDocument(document, {
			...manifest,
			isolation_profile: cycle,
			agent_capabilities: [7n, undefined],
		});
		expect(rulesOf(result)).toEqual(["agent_capabilities", "isolation_profile"]);
		expect(result.failures[0]?.message).toContain("bigint");
	});

	it("C7 never throws, whatever it is given, and says so in single lines", () => {
		fc.assert(
			fc.property(anything, anything, (a, b) => {
				const extended = typeof b === "object" && b !== null ? { ...manifest, ...b } : b;
				for (const each of [matchDocument(a, b), matchDocument(document, b), matchDocument(document, extended)]) {
					expect(each.match).toBe(each.failures.length === 0);
					expect(new Set(rulesOf(each)).size).toBe(each.failures.length);
					for (const { message } of each.failures) expect(message).not.toMatch(/[\r\n\u2028\u2029]/);
				}
			}),
		);
	});
});

describe("matching files", () => {
	let folder: string;
	beforeEach(() => {
		folder = mkdtempSync(join(tmpdir(), "mortise-match-"));
	});
	afterEach(() => rmSync(folder, { recursive: true, force: true }));
	const write = (name: string, content: string | Uint8Array) => {
		writeFileSync(join(folder, name), content);
		return join(folder, name);
	};

	it("C7 a missing, unreadable, binary or oversized document is a schema failure, never a crash", async () => {
		const good = write("manifest.yaml", JSON.stringify(manifest));
		const bad = [
			join(folder, "absent.yaml"),
			folder,
			write("binary.yaml", new Uint8Array([0xff, 0xfe, 0x00, 0x80])),
			write("bomb.yaml", `a: &a [x]\n${"b: [*a, *a, *a, *a, *a, *a, *a, *a]\n".repeat(9)}`),
			// valid as far as it may be read, and something else behind that
			write("large.json", `${JSON.stringify(document)}${" ".repeat(5 * 1024 * 1024)}x`),
		];
		for (const file of bad) expect(rulesOf(await matchFiles(file, good))).toEqual(["schema"]);
	});

	it("C7 an unreadable manifest fails all four rules; an invalid document is still named first", async () => {
		const runtime = write("runtime.json", JSON.stringify(document));
		expect(rulesOf(await matchFiles(runtime, join(folder, "absent.yaml")))).toHaveLength(4);
		const invalid = write("other.json", "{}");
		expect(rulesOf(await matchFiles(invalid, join(folder, "absent.yaml")))).toEqual(["schema"]);
	});

	it("reads a JSON document that is longer than a YAML file may be", async () => {
		const long = { ...document, "x-tools": Array.from({ length: 20_000 }, (_, index) => ({ name: `tool_${index}` })) };
		const runtime = write("runtime.json", JSON.stringify(long));
		expect((await matchFiles(runtime, write("manifest.yaml", JSON.stringify(manifest)))).match).toBe(true);
	});
});
