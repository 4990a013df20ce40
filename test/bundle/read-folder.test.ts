import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defaultCaps, readFolder } from "../../src/bundle/index.js";
import { aBundle, writeFiles } from "../fixtures/bundle/corpus.js";
import { temporaryFolder } from "./temporary.js";

async function codesOf(folder: string, caps = defaultCaps): Promise<string[]> {
	return (await readFolder(folder, { caps })).problems.map((problem) => problem.code);
}

describe("readFolder", () => {
	it("reads every file of every folder, by path", async () => {
		const folder = await writeFiles(await temporaryFolder(), {
			...aBundle("a.b"),
			"lib/z.js": "z",
			"lib/a.js": "",
			"Z.md": "",
		});
		const read = await readFolder(folder);
		expect([...read.files.keys()]).toEqual(["Z.md", "lib/a.js", "lib/z.js", "plugin.js", "plugin.yaml"]);
		expect(Buffer.from(read.files.get("lib/z.js") ?? []).toString()).toBe("z");
		expect(read.problems).toEqual([]);
	});

	it("leaves litter out, and packages and version control with a note", async () => {
		const folder = await writeFiles(await temporaryFolder(), {
			...aBundle("a.b"),
			".DS_Store": "x",
			"lib/Thumbs.db": "x",
			"node_modules/x/index.js": "x",
			".git/HEAD": "x",
		});
		const read = await readFolder(folder);
		expect([...read.files.keys()]).toEqual(["plugin.js", "plugin.yaml"]);
		expect(read.notes.map((note) => note.code)).toEqual(["bundle.ignored", "bundle.ignored"]);
	});

	it("refuses links to files, to folders and to nothing, without reading behind them", async () => {
		const secret = await writeFiles(await temporaryFolder(), { "secret.txt": "secret" });
		const folder = await writeFiles(await temporaryFolder(), aBundle("a.b"));
		await symlink(join(secret, "secret.txt"), join(folder, "file"));
		await symlink(secret, join(folder, "folder"));
		await symlink("/nowhere", join(folder, "nothing"));
		const read = await readFolder(folder);
		expect(read.problems.map((problem) => problem.code)).toEqual(["bundle.link", "bundle.link", "bundle.link"]);
		expect([...read.files.keys()]).toEqual(["plugin.js", "plugin.yaml"]);
	});

	it("refuses a folder that is itself a link or no folder", async () => {
		const folder = await writeFiles(await temporaryFolder(), aBundle("a.b"));
		const other = await temporaryFolder();
		await symlink(folder, join(other, "link"));
		expect(await codesOf(join(other, "link"))).toEqual(["bundle.link"]);
		expect(await codesOf(join(folder, "plugin.js"))).toEqual(["bundle.special_file"]);
		expect(await codesOf(join(folder, "none"))).toEqual(["file.unreadable"]);
	});

	it("refuses pipes and sockets and does not wait for them", async () => {
		const folder = await writeFiles(await temporaryFolder(), aBundle("a.b"));
		execFileSync("mkfifo", [join(folder, "pipe")]);
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(join(folder, "socket"), resolve));
		expect(await codesOf(folder)).toEqual(["bundle.special_file", "bundle.special_file"]);
		server.close();
	});

	it("takes a hard link for the plain file it is", async () => {
		const folder = await writeFiles(await temporaryFolder(), aBundle("a.b"));
		await link(join(folder, "plugin.js"), join(folder, "same.js"));
		expect(await codesOf(folder)).toEqual([]);
	});

	it("refuses more than the caps, deep folders and clashing names", async () => {
		const folder = await writeFiles(await temporaryFolder(), { a: "12345", "b/C": "12345", "b/c": "" });
		expect(await codesOf(folder)).toEqual(["bundle.path_clash"]);
		expect(await codesOf(folder, { ...defaultCaps, files: 1 })).toEqual(["bundle.too_many_files"]);
		expect(await codesOf(folder, { ...defaultCaps, fileBytes: 4 })).toContain("bundle.file_too_large");
		expect(await codesOf(folder, { ...defaultCaps, totalBytes: 9 })).toContain("bundle.too_large");
		const deep = await temporaryFolder();
		await mkdir(join(deep, "d/".repeat(200)), { recursive: true });
		expect(await codesOf(deep)).toEqual(["bundle.path_invalid"]);
	});

	it.skipIf(process.getuid?.() === 0)("says which file cannot be read", async () => {
		const folder = await writeFiles(await temporaryFolder(), aBundle("a.b"));
		await writeFile(join(folder, "closed"), "x");
		await chmod(join(folder, "closed"), 0o000);
		expect(await codesOf(folder)).toEqual(["file.unreadable"]);
	});
});
