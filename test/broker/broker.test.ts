import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type HostFunction, HostResult, hostFunctions } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import { callCaps, logCaps } from "../../src/broker/index.js";
import { openDatabase } from "../../src/database.js";
import { aBroker, aPlugin, codeOf, unwrap } from "./builders.js";

describe("the broker", () => {
	it("answers now, random, log and granted kv within the contract", async () => {
		const { ask } = aBroker({ plugin: aPlugin({ asks: { kv: true }, grant: { kv: true } }) });
		for (const [name, args] of [
			["now", {}],
			["random", { bytes: 16 }],
			["log", { level: "info", message: "hi" }],
			["kv", { op: "set", key: "a", value: 1 }],
			["kv", { op: "get", key: "a" }],
		] as const) {
			const result = HostResult.parse(await ask(name, args));
			expect(hostFunctions[name].value.safeParse(unwrap(result)).success).toBe(true);
		}
	});

	it("refuses kv that is not granted with its command, and kv that is not asked for without one", async () => {
		const { ask } = aBroker({ plugin: aPlugin({ asks: { kv: true } }) });
		const args = { op: "get", key: "a" };
		const missing = await ask("kv", args);
		expect(missing).toMatchObject({ failure: { code: "unauthorized" }, permission: "kv" });
		expect(!missing.ok && missing.failure.message).toContain("mortise grant acme.plugin kv");
		expect(await ask("kv", args, { plugin: aPlugin({ grant: { kv: true } }) })).not.toHaveProperty("permission");
		expect(codeOf(await ask("kv", args, { plugin: aPlugin({ grant: { kv: true } }) }))).toBe("unauthorized");
	});

	it("never throws, whatever the arguments and the name", async () => {
		const { ask } = aBroker({ plugin: aPlugin({ asks: { kv: true }, grant: { kv: true } }) });
		let deep: unknown = [];
		for (let index = 0; index < 100_000; index += 1) deep = [deep];
		const circular: Record<string, unknown> = {};
		circular.self = circular;
		for (const name of Object.keys(hostFunctions) as HostFunction[])
			for (const args of [
				undefined,
				null,
				1,
				"x",
				[],
				{ op: "set", key: "a", value: deep },
				circular,
				{ __proto__: null },
			]) {
				const result = await ask(name, args);
				expect(HostResult.safeParse(result).success).toBe(true);
			}
		expect(codeOf(await ask("kv", { op: "set", key: "a", value: deep }))).toBe("invalid_input");
		for (const name of ["toString", "files", "__proto__"]) expect((await ask(name as HostFunction, {})).ok).toBe(false);
	});

	it("says that the host broke when it did, and tells the log rather than the plugin why", async () => {
		const database = openDatabase(":memory:");
		const { ask, lines } = aBroker({ database, plugin: aPlugin({ asks: { kv: true }, grant: { kv: true } }) });
		database.close();
		const result = await ask("kv", { op: "get", key: "a" });
		expect(codeOf(result)).toBe("internal");
		expect(JSON.stringify(result)).not.toContain("database");
		expect(lines.join("")).toContain("host function broke");
	});

	it.each(["kv", "log"] as const)("counts %s per job and per plugin", async (name) => {
		const plugin = aPlugin({ asks: { kv: true }, grant: { kv: true } });
		const { ask, broker } = aBroker({ plugin });
		const args = name === "kv" ? { op: "list" } : { level: "debug", message: "x" };
		for (let index = 0; index < callCaps[name]; index += 1) expect((await ask(name, args)).ok).toBe(true);
		expect(codeOf(await ask(name, args))).toBe("rate_limited");
		const other = {
			...plugin,
			bundle: { ...plugin.bundle, manifest: { ...plugin.bundle.manifest, id: "acme.other" } },
		};
		expect((await ask(name, args, { plugin: other })).ok).toBe(true);
		expect((await ask(name, args, { job: "job-2" })).ok).toBe(true);
		broker.endJob("job-1");
		expect((await ask(name, args)).ok).toBe(false);
	});

	it("takes the last log lines of an ended job, and nothing else of it", async () => {
		const { ask, broker } = aBroker({ plugin: aPlugin({ asks: { kv: true }, grant: { kv: true } }) });
		broker.endJob("job-1");
		expect((await ask("log", { level: "info", message: "late" })).ok).toBe(true);
		expect(codeOf(await ask("kv", { op: "list" }))).toBe("cancelled");
		await broker.close();
		expect(codeOf(await ask("log", { level: "info", message: "too late" }))).toBe("cancelled");
	});
});

describe("plugin logs", () => {
	it("go to the host's log and the plugin's own file, cut, escaped and one a line", async () => {
		const { ask, broker, folder, lines } = aBroker();
		const wide = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`key${index}`, "v".repeat(100)]));
		await ask("log", { level: "warn", message: `a\nb\u202e\x1b[31m${"é".repeat(5000)}`, fields: wide });
		await ask("log", { level: "info", message: "ok", fields: { n: 1, deep: { a: ["\x1b"] } } });
		await broker.close();
		const file = join(folder, "logs", "acme.plugin.log");
		const written = readFileSync(file, "utf8")
			.trimEnd()
			.split("\n")
			.map((line) => JSON.parse(line));
		expect(written.length).toBe(2);
		expect(written[0].message).not.toMatch(/[\p{Cc}\p{Cf}]/u);
		expect(Buffer.byteLength(written[0].message)).toBeLessThan(logCaps.message + 10);
		expect(Buffer.byteLength(JSON.stringify(written[0].fields))).toBeLessThan(2 * logCaps.fields);
		expect(written[1]).toMatchObject({
			level: "info",
			job: "job-1",
			message: "ok",
			fields: { n: 1, deep: { a: ["\\u{1b}"] } },
		});
		expect(statSync(file).mode & 0o777).toBe(0o600);
		expect(lines.map((line) => JSON.parse(line))).toEqual([
			expect.objectContaining({ plugin: "acme.plugin", level: 40 }),
			expect.objectContaining({ plugin: "acme.plugin", level: 30, msg: "ok" }),
		]);
	});

	it("never grow a file past its cap, and keep the one before", async () => {
		const { ask, broker, folder } = aBroker();
		for (let job = 0; job < 4; job += 1)
			for (let index = 0; index < callCaps.log; index += 1)
				await ask("log", { level: "info", message: "m".repeat(4000) }, { job: `job-${job}` });
		await broker.close();
		const file = join(folder, "logs", "acme.plugin.log");
		for (const each of [file, `${file}.1`]) expect(statSync(each).size).toBeLessThanOrEqual(logCaps.file);
		expect(existsSync(`${file}.2`)).toBe(false);
	});
});
