import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
	chmodSync,
	existsSync,
	linkSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ToolCallOutput, textOf } from "@mortise/sdk/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/database.js";
import { errorReport } from "../../src/errors.js";
import { compileSchema } from "../../src/json-schema.js";
import {
	createFileTools,
	createMemoryTools,
	createPluginMemory,
	createSqliteMemory,
	type NativeContext,
	type NativeTool,
} from "../../src/tools/index.js";
import { whileSwapping } from "../hostile/files/swaps.js";

const context: NativeContext = { agent: "a", session: "s", signal: new AbortController().signal };

async function call(
	tools: readonly NativeTool[],
	name: string,
	input: { [name: string]: unknown },
	as = context,
): Promise<ToolCallOutput> {
	const found = tools.find((each) => each.tool.name === name);
	if (found === undefined) throw new Error(`no tool ${name}`);
	return await found.execute(input, as);
}

let folder: string;
let workspace: string;
let files: readonly NativeTool[];
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "mortise-workspace-"));
	workspace = join(folder, "workspace");
	mkdirSync(workspace);
	mkdirSync(join(folder, "outside"));
	writeFileSync(join(folder, "outside", "secret.txt"), "canary");
	files = createFileTools(workspace);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const read = (path: string, encoding?: string): Promise<ToolCallOutput> =>
	call(files, "file_read", { path, ...(encoding === undefined ? {} : { encoding }) });
const write = (path: string, content: string, encoding?: string): Promise<ToolCallOutput> =>
	call(files, "file_write", { path, content, ...(encoding === undefined ? {} : { encoding }) });

describe("file_read and file_write", () => {
	it("have usable closed schemas", () => {
		for (const { tool } of [...files, ...createMemoryTools(createSqliteMemory(openDatabase(":memory:")))]) {
			const compiled = compileSchema(tool.input);
			expect(compiled.ok).toBe(true);
			expect(compiled.ok && compiled.check({ surprise: 1 })).not.toEqual([]);
		}
	});

	it("write text and bytes into folders they make, and read them back", async () => {
		const bytes = randomBytes(1000);
		expect(await write("./notes/deep/ä 🙂.txt", "Grüße\u0000\n")).not.toHaveProperty("isError");
		expect(textOf((await read("notes/deep/ä 🙂.txt")).content)).toBe("Grüße\u0000\n");
		expect(await write("data.bin", bytes.toString("base64"), "base64")).not.toHaveProperty("isError");
		expect(textOf((await read("data.bin", "base64")).content)).toBe(bytes.toString("base64"));
		expect(readFileSync(join(workspace, "data.bin"))).toEqual(bytes);
	});

	it("replace a file in one step, keeping its mode, and leave nothing half-written", async () => {
		writeFileSync(join(workspace, "run.sh"), "old");
		chmodSync(join(workspace, "run.sh"), 0o750);
		const before = statSync(join(workspace, "run.sh")).ino;
		await write("run.sh", "new");
		expect(statSync(join(workspace, "run.sh")).ino).not.toBe(before);
		expect(statSync(join(workspace, "run.sh")).mode & 0o777).toBe(0o750);
		expect(readdirSync(workspace)).toEqual(["run.sh"]);
	});

	it("R129 are built against the workspace they were handed", async () => {
		const other = createFileTools(join(folder, "other"));
		await call(other, "file_write", { path: "a.txt", content: "other" });
		await write("a.txt", "mine");
		expect(readFileSync(join(folder, "other", "a.txt"), "utf8")).toBe("other");
		expect(textOf((await read("a.txt")).content)).toBe("mine");
	});

	const escapes = [
		"../outside/secret.txt",
		"a/../../outside/secret.txt",
		"/etc/passwd",
		"",
		".",
		"..",
		"a/",
		"a//b",
		"a\\..\\b",
		"a\u0000b",
		"a\nb",
		"x/".repeat(70),
		"y".repeat(5000),
	];
	it.each(escapes)("refuse the path %j, also when writing, so that the model can read why", async (path) => {
		for (const output of [await read(path), await write(path, "x")]) {
			expect(output.isError).toBe(true);
			expect(textOf(output.content)).toContain("not allowed");
		}
		expect(readFileSync(join(folder, "outside", "secret.txt"), "utf8")).toBe("canary");
	});

	it("follow no link: to a file, to a folder, in the middle, dangling, within the workspace", async () => {
		const links: [string, string, string][] = [
			["file", join(folder, "outside", "secret.txt"), "file"],
			["folder", join(folder, "outside"), "folder/secret.txt"],
			["up", "..", "up/outside/secret.txt"],
			["dangling", join(folder, "outside", "new.txt"), "dangling"],
			["inner", "real", "inner/secret.txt"],
		];
		mkdirSync(join(workspace, "real"));
		for (const [name, target, path] of links) {
			symlinkSync(target, join(workspace, name));
			expect((await read(path)).isError, path).toBe(true);
			expect((await write(path, "overwritten")).isError, path).toBe(true);
		}
		expect(readdirSync(join(folder, "outside"))).toEqual(["secret.txt"]);
		expect(readFileSync(join(folder, "outside", "secret.txt"), "utf8")).toBe("canary");
		expect(readdirSync(join(workspace, "real"))).toEqual([]);
	});

	it("never leave the workspace while a folder is swapped for a link all the time", async () => {
		const real = join(workspace, "real");
		mkdirSync(real);
		writeFileSync(join(real, "secret.txt"), "inside");
		symlinkSync(join(folder, "outside"), join(workspace, "link"));
		await whileSwapping(workspace, async () => {
			let inside = 0;
			for (let round = 0; round < 3000; round += 1) {
				const output = await (round % 10 === 0 ? write("real/new.txt", "new") : read("real/secret.txt"));
				expect(textOf(output.content)).not.toContain("canary");
				if (output.isError !== true) inside += 1;
			}
			expect(inside).toBeGreaterThan(0);
		});
		expect(readdirSync(join(folder, "outside"))).toEqual(["secret.txt"]);
		expect(readFileSync(join(folder, "outside", "secret.txt"), "utf8")).toBe("canary");
	});

	it("refuse folders, pipes, and what is too large", async () => {
		mkdirSync(join(workspace, "folder"));
		execFileSync("mkfifo", [join(workspace, "pipe")]);
		writeFileSync(join(workspace, "large"), "");
		truncateSync(join(workspace, "large"), 1024 * 1024 + 1);
		for (const path of ["folder", "pipe", "large", "missing"]) expect((await read(path)).isError, path).toBe(true);
		for (const path of ["folder", "pipe", "large/below"]) expect((await write(path, "x")).isError, path).toBe(true);
		expect((await write("big", "x".repeat(1024 * 1024 + 1))).isError).toBe(true);
		expect(existsSync(join(workspace, "big"))).toBe(false);
		expect(await write("big", "x".repeat(1024 * 1024))).not.toHaveProperty("isError");
	});

	it("refuse text that is none and base64 that is none", async () => {
		writeFileSync(join(workspace, "binary"), Buffer.from([0xff, 0xfe, 0x00]));
		expect((await read("binary")).isError).toBe(true);
		expect(await read("binary", "base64")).not.toHaveProperty("isError");
		expect((await write("b", "no base64!", "base64")).isError).toBe(true);
		expect(existsSync(join(workspace, "b"))).toBe(false);
	});

	it("read a hard link inside the workspace and never write through one", async () => {
		linkSync(join(folder, "outside", "secret.txt"), join(workspace, "hard"));
		await write("hard", "changed");
		expect(readFileSync(join(folder, "outside", "secret.txt"), "utf8")).toBe("canary");
	});

	it("end as cancelled when the turn is, without writing", async () => {
		const aborted = { ...context, signal: AbortSignal.abort() };
		await expect(call(files, "file_write", { path: "a", content: "x" }, aborted)).rejects.toMatchObject({
			code: "plugin.cancelled",
		});
		expect(readdirSync(workspace)).toEqual([]);
	});

	it("report a workspace that cannot be made as the operator's failure", async () => {
		writeFileSync(join(folder, "file"), "");
		const tools = createFileTools(join(folder, "file"));
		const outcome = call(tools, "file_write", { path: "a", content: "x" });
		await expect(outcome).rejects.toMatchObject({ code: "workspace.failed" });
	});
});

describe("memory_store and memory_recall", () => {
	const tools = (): readonly NativeTool[] => createMemoryTools(createSqliteMemory(openDatabase(":memory:")));

	it("remember and find, for the agent of the turn only", async () => {
		const memory = tools();
		expect(await call(memory, "memory_store", { content: "the door code is 17", key: "door" })).toMatchObject({
			structured: { key: "door" },
		});
		const found = await call(memory, "memory_recall", { query: "door" });
		expect(textOf(found.content)).toBe("[door] the door code is 17");
		expect(found.structured).toMatchObject({ entries: [{ key: "door", score: 1 }] });
		const other = await call(memory, "memory_recall", { query: "door", agent: "a" }, { ...context, agent: "b" });
		expect(other.content).not.toEqual(found.content);
		expect(JSON.stringify(other)).not.toContain("17");
	});

	it("do not let the model name another agent", async () => {
		const memory = tools();
		await call(memory, "memory_store", { content: "mine", key: "k" });
		await call(memory, "memory_store", { content: "forged", key: "k", agent: "a" }, { ...context, agent: "b" });
		expect(textOf((await call(memory, "memory_recall", { query: "*" })).content)).toBe("[k] mine");
	});

	it("tell the model what the store reports, and the host what breaks", async () => {
		const failure = { code: "unsupported" as const, message: "no categories here" };
		const error = errorReport("plugin.failed", { failure: failure.code, message: failure.message });
		const reporting = createMemoryTools(
			createPluginMemory("p", async () => ({ ok: false, error, failure, retryable: false, ms: 1 })),
		);
		expect(await call(reporting, "memory_recall", { query: "x", category: "c" })).toMatchObject({ isError: true });
		const breaking = createMemoryTools(createPluginMemory("p", async () => ({ ok: true, output: 7, ms: 1 })));
		await expect(call(breaking, "memory_recall", { query: "x" })).rejects.toMatchObject({
			code: "memory.plugin_failed",
		});
		const database = openDatabase(":memory:");
		const closed = createMemoryTools(createSqliteMemory(database));
		database.close();
		await expect(call(closed, "memory_store", { content: "x" })).rejects.toMatchObject({ code: "memory.store_failed" });
	});

	it("end as cancelled when the turn is", async () => {
		const aborted = { ...context, signal: AbortSignal.abort() };
		await expect(call(tools(), "memory_store", { content: "x" }, aborted)).rejects.toMatchObject({
			code: "plugin.cancelled",
		});
	});
});
