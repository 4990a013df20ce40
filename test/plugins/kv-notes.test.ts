import type { Entry } from "@mortise/sdk";
import { createTestHost } from "@mortise/sdk/testing";
import { describe, expect, it } from "vitest";
import { openBundle } from "./open.js";

const agent = "a";

async function aStore(options: Parameters<typeof createTestHost>[0] = { kv: true }) {
	const test = createTestHost(options);
	const opened = await openBundle("kv-notes", test.host);
	const call = async (op: string, input: object) => {
		const result = await opened.call(op, input, { agent });
		if (!result.ok) throw new Error(JSON.stringify(result.failure));
		return result.output as { entries: Entry[]; count: number; content: [{ text: string }]; isError?: boolean };
	};
	return { ...test, opened, call };
}

describe("kv-notes", () => {
	it("keeps order, counts and searches over many pages, reading few of them for the newest", async () => {
		let reads = 0;
		const base = createTestHost({ kv: true });
		const kv = base.host.kv;
		const opened = await openBundle("kv-notes", {
			...base.host,
			kv: async (args) => {
				if (args.op === "get") reads++;
				return (await kv?.(args)) ?? {};
			},
		});
		const call = async (op: string, input: object) => {
			const result = await opened.call(op, { agent, ...input });
			if (!result.ok) throw new Error(JSON.stringify(result.failure));
			return result.output as { entries: Entry[]; count: number };
		};
		const total = 500;
		for (let index = 0; index < total; index++)
			await call("memory.store", {
				key: `k${index}`,
				content: `entry number ${index} says word${index % 50}`,
				category: `c${index % 2}`,
			});
		expect(Object.keys(base.kv()).filter((key) => key.startsWith("p/")).length).toBeGreaterThan(1);
		expect((await call("memory.count", {})).count).toBe(total);
		expect((await call("memory.count", { category: "c1" })).count).toBe(total / 2);
		const found = await call("memory.recall", { query: "word7", limit: 100 });
		expect(found.entries.map(({ key }) => key)).toEqual(
			Array.from({ length: total / 50 }, (_, index) => `k${total - 50 * (index + 1) + 7}`),
		);
		reads = 0;
		expect((await call("memory.list", { limit: 3 })).entries.map(({ key }) => key)).toEqual(["k499", "k498", "k497"]);
		expect(reads).toBeLessThanOrEqual(4);
	}, 60_000);

	it("moves a replaced entry to the front, also from an older page", async () => {
		const { call, kv } = await aStore();
		for (let index = 0; index < 12; index++)
			await call("memory.store", { agent, key: `k${index}`, content: "x".repeat(20) + index });
		await call("memory.store", { agent, key: "k0", content: "again" });
		expect((await call("memory.list", { agent, limit: 2 })).entries.map(({ key }) => key)).toEqual(["k0", "k11"]);
		expect((await call("memory.count", { agent })).count).toBe(12);
		for (let index = 0; index < 12; index++) await call("memory.forget", { agent, key: `k${index}` });
		expect(Object.values(kv())).toEqual([[]]);
	});

	it("loses no entry when calls write at once", async () => {
		const { call } = await aStore();
		const names = Array.from({ length: 8 }, (_, index) => `k${index}`);
		await Promise.all(names.map((key) => call("memory.store", { agent, key, content: key })));
		const { entries } = await call("memory.list", { agent });
		expect(entries.map(({ key }) => key).sort()).toEqual(names);
	});

	it("keeps notes as a model writes and reads them", async () => {
		const { call } = await aStore();
		const use = (name: string, args: object) => call("tool.call", { name, arguments: args });
		expect((await use("note_list", {})).content[0].text).toBe("there are no notes");
		await use("note_add", { title: "milk", text: "one litre" });
		await use("note_add", { title: "bread", text: "rye" });
		await use("note_add", { title: "milk", text: "two litres" });
		expect((await use("note_list", {})).content[0].text).toBe("milk\nbread");
		expect((await use("note_get", { title: "milk" })).content[0].text).toBe("two litres");
		expect(await use("note_get", { title: "eggs" })).toMatchObject({ isError: true });
	});

	it("finds words of scripts without spaces, and words with other marks", async () => {
		const { call } = await aStore();
		await call("memory.store", { agent, key: "ja", content: "東京都の天気は晴れ" });
		await call("memory.store", { agent, key: "cs", content: "Kůň" });
		expect((await call("memory.recall", { agent, query: "天気", limit: 5 })).entries.map(({ key }) => key)).toEqual([
			"ja",
		]);
		expect((await call("memory.recall", { agent, query: "KUN", limit: 5 })).entries.map(({ key }) => key)).toEqual([
			"cs",
		]);
	});

	it("fails with unauthorized when kv is not granted", async () => {
		const { opened } = await aStore({});
		const result = await opened.call("memory.count", { agent });
		expect(result).toMatchObject({ ok: false, failure: { code: "unauthorized" } });
		expect(await opened.call("memory.health", {})).toMatchObject({ ok: true, output: { ok: false } });
	});

	it("refuses a name longer than its keys can hold", async () => {
		const { opened } = await aStore();
		const result = await opened.call("memory.store", { agent: "a".repeat(200), content: "x" });
		expect(result).toMatchObject({ ok: false, failure: { code: "invalid_input" } });
	});
});
