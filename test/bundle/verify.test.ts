import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkSums, checkWasmFraming, digestFiles, readBundle } from "../../src/bundle/index.js";
import {
	aBundle,
	aManifest,
	aWasmBundle,
	type Files,
	sumsOf,
	tinyWasm,
	writeFiles,
} from "../fixtures/bundle/corpus.js";
import { tarball } from "../fixtures/bundle/tarball.js";
import { temporaryFolder } from "./temporary.js";

async function codesOf(files: Files): Promise<string[]> {
	const read = await readBundle(await writeFiles(await temporaryFolder(), files));
	return read.ok ? [] : read.refused.problems.map((problem) => problem.code);
}
const bytes = (text: string): Uint8Array => Buffer.from(text);

describe("readBundle", () => {
	it("gives the same digest for a folder and for its archive", async () => {
		const files = aWasmBundle("a.b");
		const folder = await writeFiles(await temporaryFolder(), files);
		const archive = join(await temporaryFolder(), "b.tgz");
		await writeFile(
			archive,
			tarball(Object.entries(files).map(([path, content]) => ({ path: `top/${path}`, content }))),
		);
		const [one, two] = [await readBundle(folder), await readBundle(archive)];
		if (!one.ok || !two.ok) throw new Error("refused");
		expect(one.bundle.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
		expect(two.bundle.digest).toBe(one.bundle.digest);
		expect(one.bundle).toMatchObject({ origin: "named", path: folder, manifest: { id: "a.b" } });
	});

	it("refuses a folder without plugin.yaml", async () => {
		expect(await codesOf({ "readme.md": "" })).toEqual(["bundle.no_manifest"]);
		expect(await codesOf({})).toEqual(["bundle.no_manifest"]);
	});

	it("refuses an entry that is not there, also when it is a folder", async () => {
		expect(await codesOf({ "plugin.yaml": aManifest("a.b") })).toEqual(["bundle.entry_missing"]);
		expect(await codesOf({ "plugin.yaml": aManifest("a.b"), "plugin.js/index.js": "" })).toEqual([
			"bundle.entry_missing",
		]);
	});

	it("refuses a module cut off at every byte, and what is no module", async () => {
		for (let length = 0; length < tinyWasm.length; length++) {
			const framing = checkWasmFraming(tinyWasm.subarray(0, length));
			// cut between two sections it is a whole, shorter module; the engine finds the missing parts
			if (![8, 15, 19, 37].includes(length))
				expect(framing, String(length)).toMatchObject({ code: "bundle.wasm_truncated" });
		}
		expect(checkWasmFraming(tinyWasm)).toEqual({ ok: true });
		expect(await codesOf(aWasmBundle("a.b", bytes("not a module")))).toEqual(["bundle.wasm_invalid"]);
		const component = Uint8Array.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]);
		expect(await codesOf(aWasmBundle("a.b", component))).toEqual(["bundle.wasm_invalid"]);
		const wide = Uint8Array.from([...tinyWasm.subarray(0, 8), 1, 0xff, 0xff, 0xff, 0xff, 0x7f]);
		expect(checkWasmFraming(wide)).toMatchObject({ code: "bundle.wasm_invalid" });
		expect(checkWasmFraming(Uint8Array.from([...tinyWasm, 99, 0]))).toMatchObject({ code: "bundle.wasm_invalid" });
	});

	it("refuses modules of an ESM bundle that are not UTF-8", async () => {
		const broken = Uint8Array.from([0x2f, 0x2f, 0xff]);
		expect(await codesOf({ ...aBundle("a.b"), "plugin.js": broken })).toEqual(["bundle.not_text"]);
		expect(await codesOf({ ...aBundle("a.b"), "lib/x.mjs": broken })).toEqual(["bundle.not_text"]);
		expect(await codesOf({ ...aBundle("a.b"), "logo.png": broken })).toEqual([]);
	});

	it("reports what is wrong with the manifest and with the files at once, and what the bundle claims to be", async () => {
		const files = { "plugin.yaml": `${aManifest("a.b")}odd: 1\n`, SHA256SUMS: "x" };
		const read = await readBundle(await writeFiles(await temporaryFolder(), files));
		if (read.ok) throw new Error("not refused");
		expect(read.refused).toMatchObject({
			id: "a.b",
			version: "1.0.0",
			kinds: ["tool"],
			runtime: "esm",
			state: "refused",
		});
		expect(read.refused.problems.map((problem) => problem.code)).toEqual([
			"schema.invalid",
			"bundle.entry_missing",
			"bundle.sums_invalid",
			"bundle.sums_invalid",
		]);
	});

	it("holds the bytes that were verified, not the files", async () => {
		const folder = await writeFiles(await temporaryFolder(), aBundle("a.b"));
		const read = await readBundle(folder);
		await writeFile(join(folder, "plugin.js"), "changed");
		if (!read.ok) throw new Error("refused");
		expect(Buffer.from(read.bundle.files.get("plugin.js") ?? []).toString()).not.toContain("changed");
	});
});

describe("digestFiles", () => {
	it("is the SHA-256 of the sorted list of files, whatever the order, without SHA256SUMS", async () => {
		const files = new Map([
			["b", bytes("2")],
			["a", bytes("1")],
			["SHA256SUMS", bytes("x")],
			["Z", bytes("")],
		]);
		const line = (path: string, content: string) => `${createHash("sha256").update(content).digest("hex")}  ${path}\n`;
		const expected = createHash("sha256")
			.update(`${line("Z", "")}${line("a", "1")}${line("b", "2")}`)
			.digest("hex");
		expect((await digestFiles(files)).digest).toBe(`sha256:${expected}`);
		expect((await digestFiles(new Map([...files].reverse()))).digest).toBe(`sha256:${expected}`);
	});

	it("sorts by bytes, not by UTF-16", async () => {
		const [astral, high] = ["\u{10000}", "\uffee"];
		expect([
			...(
				await digestFiles(
					new Map([
						[astral, bytes("")],
						[high, bytes("")],
					]),
				)
			).hashes.keys(),
		]).toEqual([high, astral]);
	});
});

describe("checkSums", () => {
	const files = { a: "1", "lib/b": "2" };
	const hashes = new Map(
		Object.entries(files).map(([path, content]) => [path, createHash("sha256").update(content).digest("hex")]),
	);
	const codes = (list: string) => checkSums(bytes(list), hashes, "SHA256SUMS").map((problem) => problem.code);

	it("accepts what sha256sum writes, in text and binary mode and with ./", () => {
		expect(codes(sumsOf(files))).toEqual([]);
		expect(codes(sumsOf(files).replaceAll("  ", " *"))).toEqual([]);
		expect(codes(sumsOf(files).replaceAll("  ", "  ./"))).toEqual([]);
	});

	it("refuses another digest, a file that is missing, extra or listed twice, and lines of another form", () => {
		expect(codes(sumsOf({ ...files, a: "other" }))).toEqual(["bundle.digest_mismatch"]);
		expect(codes(sumsOf({ a: "1" }))).toEqual(["bundle.sums_invalid"]);
		expect(codes(sumsOf({ ...files, c: "" }))).toEqual(["bundle.sums_invalid"]);
		expect(codes(sumsOf(files) + sumsOf({ a: "1" }))).toEqual(["bundle.sums_invalid"]);
		expect(codes(`${sumsOf(files)}rubbish\n`)).toEqual(["bundle.sums_invalid"]);
		expect(checkSums(Uint8Array.from([0xff]), new Map(), "f").map((problem) => problem.code)).toEqual([
			"bundle.sums_invalid",
		]);
	});
});
