import { execFileSync } from "node:child_process";
import { chmod, chown, mkdir, readdir, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { describe, expect, it } from "vitest";
import { asideFor } from "../../src/bundle/discover.js";
import { type Discovery, discoverBundles, type Receipts } from "../../src/bundle/index.js";
import { aBundle, brokenCodes, writeCorpus, writeFiles } from "../fixtures/bundle/corpus.js";
import { tarball } from "../fixtures/bundle/tarball.js";
import { temporaryFolder } from "./temporary.js";

const idsOf = ({ bundles }: Discovery) => bundles.map((bundle) => bundle.manifest.id);
const codesOf = ({ refused }: Discovery) => refused.flatMap((each) => each.problems.map((problem) => problem.code));
const notesOf = ({ notes }: Discovery) => notes.map((note) => note.code);

describe("discoverBundles", () => {
	it("loads the twenty good bundles of the corpus and refuses each broken one with its own code", async () => {
		const drop = await temporaryFolder();
		const good = await writeCorpus(drop);
		const found = await discoverBundles({ drop });
		expect(idsOf(found)).toEqual(good);
		const codes = Object.fromEntries(
			found.refused.map(({ path, problems }) => [
				path.slice(drop.length + 1),
				problems.map((problem) => problem.code).join(),
			]),
		);
		expect(codes).toEqual(brokenCodes);
		expect(found.notes).toEqual([]);
		expect(await readdir(join(drop, ".."))).not.toContain("escaped.txt");
		expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
	});

	it("names both places of a double id, and the place of each problem in a manifest", async () => {
		const drop = await temporaryFolder();
		await writeCorpus(drop);
		const { refused } = await discoverBundles({ drop });
		const twins = refused.filter((each) => each.id === "broken.twin");
		expect(twins).toHaveLength(2);
		for (const { problems } of twins) {
			expect(problems[0]?.message).toContain(join(drop, "twin-a"));
			expect(problems[0]?.message).toContain(join(drop, "twin-b"));
		}
		const key = refused.find((each) => each.path.endsWith("duplicate-key"))?.problems[0];
		expect(key).toMatchObject({
			file: join(drop, "duplicate-key", "plugin.yaml"),
			line: 13,
			column: 1,
			pointer: "/license",
		});
	});

	it("names the first hundred files that lie about, whatever their order, and counts the rest", async () => {
		const drop = await temporaryFolder();
		const names = Array.from({ length: 350 }, (_, index) => `stray-${String((index * 37) % 350).padStart(3, "0")}.txt`);
		await writeFiles(drop, Object.fromEntries(names.map((name) => [name, ""])));
		const { notes } = await discoverBundles({ drop });
		expect(notes).toHaveLength(101);
		expect(notes.map((note) => note.file.split("/").at(-1))).toEqual([
			drop.split("/").at(-1),
			...names.sort().slice(0, 100),
		]);
		expect(notes[0]?.message).toContain("250 more");
	});

	it("does not hold the thread for 50 ms while it reads the corpus", async () => {
		const drop = await temporaryFolder();
		await writeCorpus(drop);
		// what holds the thread holds it every time; another program on the machine does not
		let shortest = Number.POSITIVE_INFINITY;
		for (let attempt = 0; attempt < 3; attempt++) {
			const delay = monitorEventLoopDelay({ resolution: 1 });
			delay.enable();
			await discoverBundles({ drop });
			delay.disable();
			shortest = Math.min(shortest, delay.max / 1e6);
		}
		expect(shortest).toBeLessThan(50);
	});

	it("gives the same result whatever the order of the folder", async () => {
		const drop = await temporaryFolder();
		for (const id of ["c.c", "a.a", "b.b"]) await writeFiles(join(drop, id), aBundle(id));
		const before = await discoverBundles({ drop, concurrency: 1 });
		await rename(join(drop, "a.a"), join(drop, "zz"));
		const after = await discoverBundles({ drop, concurrency: 8 });
		expect(idsOf(before)).toEqual(["a.a", "b.b", "c.c"]);
		expect(after.bundles.map((bundle) => bundle.digest)).toEqual(before.bundles.map((bundle) => bundle.digest));
	});

	it("takes a drop folder that does not exist for an empty one", async () => {
		expect(await discoverBundles({ drop: join(await temporaryFolder(), "none") })).toEqual({
			bundles: [],
			refused: [],
			notes: [],
		});
	});

	it("notes what is no bundle and loads the others", async () => {
		const drop = await temporaryFolder();
		await writeFiles(join(drop, "good"), aBundle("good.one"));
		await writeFiles(drop, {
			"stray.txt": "",
			".DS_Store": "",
			"node_modules/x/plugin.yaml": "",
			".staging-1/plugin.yaml": "",
		});
		await writeFiles(join(drop, "half"), { "plugin.js": "" });
		const found = await discoverBundles({ drop });
		expect(idsOf(found)).toEqual(["good.one"]);
		expect(found.refused).toEqual([]);
		expect(notesOf(found).sort()).toEqual(["bundle.half_written", ...Array(4).fill("bundle.ignored")]);
	});

	it("refuses a link and loads the others", async () => {
		const drop = await temporaryFolder();
		const elsewhere = await writeFiles(await temporaryFolder(), aBundle("linked.one"));
		await symlink(elsewhere, join(drop, "linked"));
		await writeFiles(join(drop, "good"), aBundle("good.one"));
		const found = await discoverBundles({ drop });
		expect([idsOf(found), codesOf(found)]).toEqual([["good.one"], ["bundle.link"]]);
	});

	it("loads nothing from a drop folder that others can write to, and says how to close it", async () => {
		const drop = await temporaryFolder();
		await writeFiles(join(drop, "good"), aBundle("good.one"));
		for (const mode of [0o770, 0o707, 0o777, 0o1777]) {
			await chmod(drop, mode);
			const found = await discoverBundles({ drop });
			expect([idsOf(found), codesOf(found)]).toEqual([[], ["bundle.drop_folder_unsafe"]]);
			expect(found.refused[0]?.problems[0]?.fix).toContain(`chmod go-w ${drop}`);
		}
		await chmod(drop, 0o755);
		expect(idsOf(await discoverBundles({ drop }))).toEqual(["good.one"]);
	});

	it("loads nothing from a drop folder that is a link or no folder", async () => {
		const folder = await temporaryFolder();
		await writeFiles(join(folder, "real", "good"), aBundle("good.one"));
		await symlink("real", join(folder, "link"));
		await writeFile(join(folder, "file"), "");
		for (const name of ["link", "file"])
			expect(codesOf(await discoverBundles({ drop: join(folder, name) }))).toEqual(["bundle.drop_folder_unsafe"]);
	});

	it.skipIf(process.getuid?.() !== 0)(
		"loads nothing from a drop folder of another user (needs root to make one)",
		async () => {
			const drop = await temporaryFolder();
			await writeFiles(join(drop, "good"), aBundle("good.one"));
			await chown(drop, 12345, 12345);
			expect(codesOf(await discoverBundles({ drop }))).toEqual(["bundle.drop_folder_unsafe"]);
		},
	);

	it("refuses only the bundle that others can write to", async () => {
		const drop = await temporaryFolder();
		await writeFiles(join(drop, "good"), aBundle("good.one"));
		await writeFiles(join(drop, "open"), aBundle("open.one"));
		await chmod(join(drop, "open"), 0o777);
		const found = await discoverBundles({ drop });
		expect([idsOf(found), codesOf(found)]).toEqual([["good.one"], ["bundle.drop_folder_unsafe"]]);
	});

	it("refuses a dropped bundle with the id of a first-party one, and that one too", async () => {
		const [drop, firstParty] = [await temporaryFolder(), await temporaryFolder()];
		await writeFiles(join(firstParty, "text"), aBundle("mortise.text"));
		await writeFiles(join(firstParty, "other"), aBundle("mortise.other"));
		await writeFiles(join(firstParty, "_template"), aBundle("template.x"));
		await writeFiles(join(drop, "text"), aBundle("mortise.text"));
		const found = await discoverBundles({ drop, firstParty });
		expect(found.bundles.map(({ manifest, origin }) => [manifest.id, origin])).toEqual([
			["mortise.other", "first-party"],
		]);
		expect(codesOf(found)).toEqual(["bundle.duplicate_id", "bundle.duplicate_id"]);
	});

	it("refuses content that is not what was installed, and leaves a disabled bundle out without a problem", async () => {
		const drop = await temporaryFolder();
		await writeFiles(join(drop, "a"), aBundle("a.a"));
		await writeFiles(join(drop, "b"), aBundle("b.b"));
		const first = await discoverBundles({ drop });
		const digest = first.bundles[0]?.digest ?? "";
		const receipts: Receipts = {
			"a.a": { digest, signer: null, enabled: true },
			"b.b": { signer: null, enabled: false },
		};
		const same = await discoverBundles({ drop, receipts });
		expect(idsOf(same)).toEqual(["a.a"]);
		expect(same.refused).toMatchObject([{ id: "b.b", state: "disabled", problems: [] }]);
		await writeFile(join(drop, "a", "plugin.js"), "export default {};\n");
		expect(codesOf(await discoverBundles({ drop, receipts }))).toEqual(["bundle.digest_mismatch"]);
	});

	it("takes a version set aside only while its installation is under way", async () => {
		const drop = await temporaryFolder();
		await writeFiles(join(drop, asideFor("a.a", "1")), aBundle("a.a"));
		const next = `sha256:${"0".repeat(64)}`;
		expect(idsOf(await discoverBundles({ drop }))).toEqual([]);
		expect(idsOf(await discoverBundles({ drop, receipts: { "a.a": { signer: null, enabled: true } } }))).toEqual([]);
		expect(idsOf(await discoverBundles({ drop, receipts: { "a.a": { signer: null, enabled: true, next } } }))).toEqual([
			"a.a",
		]);
	});

	it("stops when it is aborted", async () => {
		const drop = await temporaryFolder();
		await writeFiles(join(drop, "a"), aBundle("a.a"));
		await expect(discoverBundles({ drop, signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
	});

	it("is not held by a pipe in the place of an archive or a folder", async () => {
		const drop = await temporaryFolder();
		execFileSync("mkfifo", [join(drop, "pipe.tgz")]);
		await mkdir(join(drop, "folder.tgz"));
		await writeFile(
			join(drop, "whole.tgz"),
			tarball(Object.entries(aBundle("a.a")).map(([path, content]) => ({ path, content }))),
		);
		const found = await discoverBundles({ drop });
		expect(idsOf(found)).toEqual(["a.a"]);
		expect(notesOf(found)).toEqual(["bundle.half_written", "bundle.ignored"]);
	});
});
