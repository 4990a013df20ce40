import {
	existsSync,
	linkSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { State } from "@mortise/sdk/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { checkStatePath, createStateTargets, nativeStateTargets, type StateOutcome } from "../../src/state/index.js";
import { whileSwapping } from "../hostile/files/swaps.js";

let folder: string;
let root: string;
let outside: string;
const state: State = {
	agent: "helper",
	runtime: "example",
	protocol_version: "v0.1",
	session: "s",
	turn: "t",
	status: "done",
	reply: "two\nlines",
	at: "2026-01-01T00:00:00.000Z",
};
const target = createStateTargets().get("file");
const publish = async (path?: string, value = state): Promise<StateOutcome | undefined> =>
	target?.publish(value, path === undefined ? { root } : { root, path });
const codeOf = (outcome: StateOutcome | undefined) => (outcome?.ok === false ? outcome.error.code : outcome?.ok);

beforeEach(() => {
	folder = realpathSync(mkdtempSync(join(tmpdir(), "mortise-state-")));
	root = join(folder, "agent");
	outside = join(folder, "outside");
	mkdirSync(root);
	mkdirSync(outside);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("the file target", () => {
	it("is in the table beside control-process", () => {
		expect([...createStateTargets().keys()].sort()).toEqual([...nativeStateTargets]);
	});

	it("writes the state as JSON at its default place, replaces it whole, and leaves nothing else", async () => {
		expect(codeOf(await publish())).toBe(true);
		expect(codeOf(await publish(undefined, { ...state, status: "failed" }))).toBe(true);
		expect(JSON.parse(readFileSync(join(root, ".living/state.json"), "utf8"))).toEqual({ ...state, status: "failed" });
		expect(readdirSync(join(root, ".living"))).toEqual(["state.json"]);
	});

	it("makes the folders it needs, and checking makes none", async () => {
		expect(codeOf(await target?.check({ root, path: "a/b/state.json" }))).toBe(true);
		expect(existsSync(join(root, "a"))).toBe(false);
		expect(codeOf(await publish("a/b/state.json"))).toBe(true);
		expect(JSON.parse(readFileSync(join(root, "a/b/state.json"), "utf8"))).toEqual(state);
	});

	it.each([
		"../state.json",
		"a/../../state.json",
		"/tmp/mortise-never.json",
		"C:/state.json",
		"./state.json",
		"a//state.json",
		"state.json/",
		"a\\state.json",
		"a\0/state.json",
		"state\n.json",
		"state.yaml",
		"state",
		".json",
		".git/state.json",
		"a/.GIT/state.json",
		"",
		`${"a".repeat(600)}.json`,
	])("refuses the path %j and writes nothing", async (path) => {
		expect(codeOf(await target?.check({ root, path }))).toBe("state.path_refused");
		expect(codeOf(await publish(path))).toBe("state.path_refused");
		expect(readdirSync(root)).toEqual([]);
		expect(readdirSync(folder).sort()).toEqual(["agent", "outside"]);
	});

	it("refuses a folder on the way that is a link", async () => {
		symlinkSync(outside, join(root, "linked"));
		mkdirSync(join(root, "real"));
		symlinkSync(outside, join(root, "real/deeper"));
		for (const path of ["linked/state.json", "real/deeper/state.json", "linked/new/state.json"]) {
			expect(codeOf(await publish(path))).toBe("state.path_refused");
		}
		expect(readdirSync(outside)).toEqual([]);
	});

	it("never writes outside while a folder on the way is swapped for a link all the time", async () => {
		mkdirSync(join(root, "real"));
		symlinkSync(outside, join(root, "link"));
		const outcomes = new Set<unknown>();
		await whileSwapping(root, async () => {
			// at least so many, and on until both have happened
			for (let round = 0; round < 1500 || (outcomes.size < 2 && round < 50_000); round += 1)
				outcomes.add(codeOf(await publish("real/state.json")));
		});
		expect(readdirSync(outside)).toEqual([]);
		// both happened: a write inside, and a refusal
		expect(outcomes).toContain(true);
		expect(outcomes).toContain("state.path_refused");
	});

	it("refuses a file that is a link, also a dangling one and one to a state", async () => {
		writeFileSync(join(outside, "old.json"), JSON.stringify(state));
		symlinkSync(join(outside, "old.json"), join(root, "a.json"));
		symlinkSync(join(outside, "absent.json"), join(root, "b.json"));
		for (const path of ["a.json", "b.json"]) expect(codeOf(await publish(path))).toBe("state.path_refused");
		expect(readdirSync(outside)).toEqual(["old.json"]);
	});

	it("never overwrites a file that holds no published state", async () => {
		const files = {
			"package.json": '{"name":"x"}',
			"empty.json": "",
			"list.json": "[]",
			"more.json": JSON.stringify({ ...state, extra: 1 }),
		};
		for (const [name, content] of Object.entries(files)) {
			writeFileSync(join(root, name), content);
			expect(codeOf(await target?.check({ root, path: name }))).toBe("state.not_ours");
			expect(codeOf(await publish(name))).toBe("state.not_ours");
			expect(readFileSync(join(root, name), "utf8")).toBe(content);
		}
		mkdirSync(join(root, "folder.json"));
		expect(codeOf(await publish("folder.json"))).toBe("state.path_refused");
	});

	it("replaces a hard link to a file elsewhere and leaves that file as it was", async () => {
		const old = JSON.stringify({ ...state, turn: "before" });
		writeFileSync(join(outside, "old.json"), old);
		linkSync(join(outside, "old.json"), join(root, "state.json"));
		expect(codeOf(await publish("state.json"))).toBe(true);
		expect(readFileSync(join(outside, "old.json"), "utf8")).toBe(old);
	});

	it("names a state that is too large, a folder that is gone and a file that cannot be written", async () => {
		expect(codeOf(await publish(undefined, { ...state, reply: "x".repeat(1024 * 1024) }))).toBe("state.too_large");
		writeFileSync(join(root, "plain"), "");
		expect(codeOf(await publish("plain/state.json"))).toBe("state.path_refused");
		expect(codeOf(await publish(`${"a".repeat(300)}.json`))).toMatch(/^state\.(write_failed|path_refused)$/);
		rmSync(root, { recursive: true });
		expect(codeOf(await publish())).toBe("state.path_refused");
	});

	it("gives the checked place as data, for a caller that asks before the turn", async () => {
		expect(await checkStatePath({ root, path: "a/state.json" })).toMatchObject({
			ok: true,
			folders: ["a"],
			file: "state.json",
		});
	});
});
