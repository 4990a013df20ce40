import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type BundleContent, defaultCaps, readArchive } from "../../src/bundle/index.js";
import { pax, type TarEntry, tarball, tarOf } from "../fixtures/bundle/tarball.js";
import { temporaryFolder } from "./temporary.js";

const manifest: TarEntry = { path: "plugin.yaml", content: "contract: 1\n" };

async function reading(archive: Uint8Array, caps = defaultCaps): Promise<BundleContent> {
	const file = join(await temporaryFolder(), "bundle.tgz");
	await writeFile(file, archive);
	return readArchive(file, { caps });
}
async function codesOf(...args: Parameters<typeof reading>): Promise<string[]> {
	return (await reading(...args)).problems.map((problem) => problem.code);
}

describe("readArchive", () => {
	it("reads files in order of their paths and takes a single top folder off", async () => {
		const flat = await reading(tarball([{ path: "./lib/b.js", content: "b" }, { path: "a/", type: "5" }, manifest]));
		expect([...flat.files.keys()]).toEqual(["lib/b.js", "plugin.yaml"]);
		expect(flat.problems).toEqual([]);
		const topped = await reading(
			tarball([
				{ path: "package/", type: "5" },
				{ path: "package/plugin.yaml", content: "x" },
				{ path: "package/lib/b.js" },
			]),
		);
		expect([...topped.files.keys()]).toEqual(["lib/b.js", "plugin.yaml"]);
	});

	it("leaves litter out and notes packages", async () => {
		const read = await reading(
			tarball([manifest, { path: ".DS_Store" }, { path: "._plugin.yaml" }, { path: "node_modules/x/index.js" }]),
		);
		expect([...read.files.keys()]).toEqual(["plugin.yaml"]);
		expect(read.notes.map((note) => note.code)).toEqual(["bundle.ignored"]);
	});

	it.each<[string, TarEntry[], string]>([
		["..", [{ path: "../escape" }], "bundle.path_escape"],
		[".. in the middle", [{ path: "a/../../escape" }], "bundle.path_escape"],
		[".. of a folder", [{ path: "../escape/", type: "5" }], "bundle.path_escape"],
		["an absolute path", [{ path: "/tmp/escape" }], "bundle.path_escape"],
		["a drive", [{ path: "C:/escape" }], "bundle.path_escape"],
		[".. in a pax header", [pax({ path: "../escape" }), { path: "harmless" }], "bundle.path_escape"],
		["a link", [{ path: "a", type: "2", link: "/etc/passwd" }], "bundle.link"],
		["a link inside", [{ path: "a", type: "2", link: "plugin.yaml" }], "bundle.link"],
		["a hard link", [{ path: "a", type: "1", link: "plugin.yaml" }], "bundle.link"],
		["a character device", [{ path: "a", type: "3" }], "bundle.special_file"],
		["a block device", [{ path: "a", type: "4" }], "bundle.special_file"],
		["a pipe", [{ path: "a", type: "6" }], "bundle.special_file"],
		["a type nobody knows", [{ path: "a", type: "Z" }], "bundle.special_file"],
		["a clash of case", [{ path: "PLUGIN.yaml" }], "bundle.path_clash"],
		["a clash of case of folders", [{ path: "Lib/a" }, { path: "lib/b" }], "bundle.path_clash"],
		["a clash of composition", [{ path: "é" }, { path: "é".normalize("NFD") }], "bundle.path_clash"],
		["a clash of ß", [{ path: "straße" }, { path: "STRASSE" }], "bundle.path_clash"],
		["one path twice", [{ path: "plugin.yaml", content: "other" }], "bundle.path_clash"],
		["a file that is a folder too", [{ path: "a" }, { path: "a/b" }], "bundle.path_clash"],
		["a control character", [{ path: "a\u0007b" }], "bundle.path_invalid"],
		["a line break", [{ path: "a\nb" }], "bundle.path_invalid"],
		["a direction override", [{ path: "a\u202eb" }], "bundle.path_invalid"],
		["a backslash", [{ path: "a\\..\\b" }], "bundle.path_invalid"],
		["an empty part", [{ path: "a//b" }], "bundle.path_invalid"],
		["a long path", [pax({ path: `${"a/".repeat(130)}b` }), { path: "x" }], "bundle.path_invalid"],
		[
			"a name longer than any header may be",
			[pax({ path: "a".repeat(70_000) }), { path: "x" }],
			"bundle.archive_invalid",
		],
		["a fraction of a byte", [pax({ size: "0.5" }), { path: "a" }], "bundle.archive_invalid"],
		["more bytes than can be counted", [pax({ size: "1e300" }), { path: "a" }], "bundle.archive_invalid"],
		["a size past the end", [{ path: "a", size: Buffer.from("00000077777\0") }], "bundle.archive_invalid"],
	])("refuses %s", async (_title, entries, code) => {
		expect(await codesOf(tarball([manifest, ...entries]))).toEqual([code]);
	});

	it("reports everything that is wrong with the entries", async () => {
		const archive = tarball([manifest, { path: "../a" }, { path: "b", type: "2", link: "c" }, { path: "PLUGIN.YAML" }]);
		expect(await codesOf(archive)).toEqual(["bundle.path_escape", "bundle.link", "bundle.path_clash"]);
	});

	it("refuses more than the caps on files, bytes of a file, bytes in all and ratio", async () => {
		const many = Array.from({ length: 5 }, (_, index) => ({ path: `f${index}`, content: "x".repeat(100) }));
		const caps = { ...defaultCaps, files: 4 };
		expect(await codesOf(tarball(many), caps)).toEqual(["bundle.too_many_files"]);
		expect(await codesOf(tarball(many), { ...defaultCaps, totalBytes: 450 })).toEqual(["bundle.too_large"]);
		expect(
			await codesOf(tarball([manifest, { path: "big", content: "x".repeat(200) }]), { ...caps, fileBytes: 199 }),
		).toEqual(["bundle.file_too_large"]);
		expect(await codesOf(tarball(many), { ...defaultCaps, archiveBytes: 10 })).toEqual(["bundle.file_too_large"]);
		const zeros = tarball([{ path: "zeros", content: new Uint8Array(30 * 1024 * 1024) }]);
		expect(await codesOf(zeros)).toEqual(["bundle.ratio"]);
	});

	it("stops at the cap of a tar that hides its bytes from the entries", async () => {
		const hidden = gzipSync(Buffer.concat([tarOf([manifest]), Buffer.alloc(40 * 1024 * 1024, "seven bytes and more")]));
		expect(await codesOf(hidden, { ...defaultCaps, totalBytes: 1024 * 1024, ratio: 1_000_000 })).toEqual([
			"bundle.too_large",
		]);
	});

	it("ends at an entry with a size below zero, which it takes for empty", async () => {
		const read = await reading(tarball([manifest, { path: "a", size: Buffer.alloc(12, 0xff) }]));
		expect(read.files.get("a")?.length).toBe(0);
	});

	it("refuses what is no whole archive", async () => {
		const good = tarball([
			manifest,
			{ path: "random", content: Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * i) % 251)) },
		]);
		expect(await codesOf(good)).toEqual([]);
		expect(await codesOf(good.subarray(0, good.length - 30))).toEqual(["bundle.archive_invalid"]);
		expect(await codesOf(new Uint8Array())).toEqual(["bundle.archive_invalid"]);
		expect(await codesOf(Buffer.from("no archive at all"))).toEqual(["bundle.archive_invalid"]);
		expect(await codesOf(gzipSync("no archive at all"))).toEqual(["bundle.archive_invalid"]);
		expect(await codesOf(gzipSync(good))).toEqual(["bundle.archive_invalid"]);
		expect(await codesOf(tarOf([manifest]))).toEqual(["bundle.archive_invalid"]);
		const damaged = tarOf([manifest, { path: "b" }]);
		damaged[1024 + 148] = 0x39;
		expect(await codesOf(gzipSync(damaged))).toEqual(["bundle.archive_invalid"]);
	});

	it("does not follow a link to an archive and does not take a folder for one", async () => {
		const folder = await temporaryFolder();
		await writeFile(join(folder, "real.tgz"), tarball([manifest]));
		await symlink("real.tgz", join(folder, "link.tgz"));
		await mkdir(join(folder, "folder.tgz"));
		expect((await readArchive(join(folder, "link.tgz"))).problems[0]?.code).toBe("bundle.link");
		expect((await readArchive(join(folder, "folder.tgz"))).problems[0]?.code).toBe("bundle.special_file");
		expect((await readArchive(join(folder, "none.tgz"))).problems[0]?.code).toBe("file.unreadable");
	});

	it("rejects when it is aborted", async () => {
		const file = join(await temporaryFolder(), "bundle.tgz");
		await writeFile(file, tarball([manifest]));
		await expect(readArchive(file, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
	});
});
