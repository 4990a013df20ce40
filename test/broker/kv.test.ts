import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createKv, kvCaps } from "../../src/broker/kv.js";
import { Refusal } from "../../src/broker/refusal.js";
import { openDatabase } from "../../src/database.js";

const space = { bundle: "acme.notes", agent: "helper" };

function refusal(action: () => unknown): { code?: string; retryable?: boolean | undefined } {
	try {
		action();
		return {};
	} catch (error) {
		if (!(error instanceof Refusal)) throw error;
		return { code: error.result.failure.code, retryable: error.result.failure.retryable };
	}
}

describe("key-value spaces", () => {
	it("give back what was set, and nothing for what was not", () => {
		const kv = createKv(openDatabase(":memory:"));
		expect(kv.perform(space, { op: "get", key: "a" })).toEqual({});
		const { version } = kv.perform(space, { op: "set", key: "a", value: { deep: [1, null, "é"] } });
		expect(kv.perform(space, { op: "get", key: "a" })).toEqual({ value: { deep: [1, null, "é"] }, version });
		expect(kv.perform(space, { op: "delete", key: "a" })).toEqual({});
		expect(kv.perform(space, { op: "delete", key: "a" })).toEqual({});
		expect(kv.perform(space, { op: "get", key: "a" })).toEqual({});
	});

	it("are apart for each bundle and each agent", () => {
		const kv = createKv(openDatabase(":memory:"));
		kv.perform(space, { op: "set", key: "a", value: 1 });
		for (const other of [
			{ ...space, agent: "other" },
			{ ...space, bundle: "acme.other" },
		]) {
			expect(kv.perform(other, { op: "get", key: "a" })).toEqual({});
			expect(kv.perform(other, { op: "list" })).toEqual({ keys: [] });
			kv.perform(other, { op: "delete", key: "a" });
		}
		expect(kv.perform(space, { op: "get", key: "a" }).value).toBe(1);
	});

	it("list keys by prefix, sorted, with wildcards of SQL meaning themselves", () => {
		const kv = createKv(openDatabase(":memory:"));
		for (const key of ["b", "a/2", "a/10", "a%", "a_", "aé", "A"]) kv.perform(space, { op: "set", key, value: 0 });
		expect(kv.perform(space, { op: "list" }).keys).toEqual(["A", "a%", "a/10", "a/2", "a_", "aé", "b"]);
		expect(kv.perform(space, { op: "list", prefix: "a/" }).keys).toEqual(["a/10", "a/2"]);
		expect(kv.perform(space, { op: "list", prefix: "a%" }).keys).toEqual(["a%"]);
	});

	it("list a page at a time, each behind the one before, and say when there is more", () => {
		const kv = createKv(openDatabase(":memory:"));
		const keys = Array.from({ length: 2500 }, (_, index) => `k${String(index).padStart(5, "0")}`);
		for (const key of keys) kv.perform(space, { op: "set", key, value: 0 });
		kv.perform(space, { op: "set", key: "other", value: 0 });
		const sizes: number[] = [];
		const found: string[] = [];
		for (let isMore = true; isMore; ) {
			const page = kv.perform(space, { op: "list", prefix: "k", after: found.at(-1) ?? "" });
			sizes.push(page.keys?.length ?? 0);
			found.push(...(page.keys ?? []));
			isMore = page.more === true;
		}
		expect(sizes).toEqual([1000, 1000, 500]);
		expect(found).toEqual(keys);
	});

	it("are gone when their bundle is removed, and no other's with them", () => {
		const kv = createKv(openDatabase(":memory:"));
		const other = { ...space, bundle: "acme.other" };
		for (const each of [space, { ...space, agent: "b" }, other]) kv.perform(each, { op: "set", key: "a", value: 1 });
		kv.drop(space.bundle);
		expect(kv.perform(space, { op: "list" })).toEqual({ keys: [] });
		expect(kv.perform({ ...space, agent: "b" }, { op: "get", key: "a" })).toEqual({});
		expect(kv.perform(other, { op: "get", key: "a" })).toMatchObject({ value: 1 });
	});

	it("refuse a write against another version, and never give a version twice", () => {
		const kv = createKv(openDatabase(":memory:"));
		const conflict = { code: "unavailable", retryable: true };
		const first = kv.perform(space, { op: "set", key: "a", value: 1, ifVersion: 0 }).version;
		expect(refusal(() => kv.perform(space, { op: "set", key: "a", value: 2, ifVersion: 0 }))).toEqual(conflict);
		kv.perform(space, { op: "delete", key: "a" });
		const again = kv.perform(space, { op: "set", key: "a", value: 3 }).version;
		expect(again).not.toBe(first);
		for (const op of ["set", "delete"] as const)
			expect(
				refusal(() =>
					kv.perform(space, { op, key: "a", value: 4, ...(first === undefined ? {} : { ifVersion: first }) }),
				),
			).toEqual(conflict);
		expect(kv.perform(space, { op: "get", key: "a" }).value).toBe(3);
	});

	it("hold their caps on a value, on keys and on the whole, and can be emptied when full", () => {
		const kv = createKv(openDatabase(":memory:"));
		const big = "x".repeat(kvCaps.valueBytes - 2);
		expect(refusal(() => kv.perform(space, { op: "set", key: "a", value: `${big}x` })).code).toBe("invalid_input");
		let count = 0;
		while (refusal(() => kv.perform(space, { op: "set", key: `big${count}`, value: big })).code === undefined)
			count += 1;
		expect(count).toBe(255);
		expect(refusal(() => kv.perform(space, { op: "set", key: "more", value: big }))).toEqual({
			code: "unavailable",
			retryable: false,
		});
		kv.perform(space, { op: "delete", key: "big0" });
		kv.perform(space, { op: "set", key: "more", value: big });
		const many = { ...space, agent: "many" };
		for (let index = 0; index < kvCaps.keys; index += 1) kv.perform(many, { op: "set", key: `k${index}`, value: 0 });
		expect(refusal(() => kv.perform(many, { op: "set", key: "one more", value: 0 })).code).toBe("unavailable");
		kv.perform(many, { op: "set", key: "k0", value: 1 });
	});

	it.each([
		{ op: "get" as const },
		{ op: "set" as const, key: "a" },
		{ op: "set" as const, key: "a\0b", value: 1 },
		{ op: "set" as const, key: "a\ud800", value: 1 },
		{ op: "list" as const, prefix: "\udc00" },
	])("refuse %j", (args) => {
		expect(refusal(() => createKv(openDatabase(":memory:")).perform(space, args)).code).toBe("invalid_input");
	});

	it("count their size right through any order of writes", () => {
		const key = fc.constantFrom("a", "b", "é");
		const step = fc.oneof(
			fc.record({ op: fc.constant("set" as const), key, value: fc.string({ maxLength: 20 }) }),
			fc.record({ op: fc.constant("delete" as const), key }),
		);
		fc.assert(
			fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
				const database = openDatabase(":memory:");
				const kv = createKv(database);
				for (const args of steps) kv.perform(space, args);
				const kept = database.prepare("SELECT keys, bytes FROM kv_space").get() ?? { keys: 0, bytes: 0 };
				const real = database.prepare("SELECT count(*) AS keys, coalesce(sum(bytes), 0) AS bytes FROM kv").get();
				database.close();
				expect(kept).toEqual(real);
			}),
			{ numRuns: 50 },
		);
	});
});
