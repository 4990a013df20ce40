import { type Entry, type InputOf, operations } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import type { CallOutcome } from "../../src/contract/index.js";
import { openDatabase } from "../../src/database.js";
import { errorReport } from "../../src/errors.js";
import {
	type CallMemory,
	createPluginMemory,
	createSqliteMemory,
	type MemoryOperation,
} from "../../src/tools/index.js";
import { describeMemoryStore, type HandClock, outputOf } from "./memory-conformance.js";

describeMemoryStore("sqlite", (clock) => createSqliteMemory(openDatabase(":memory:"), { clock: () => clock.now }));
describeMemoryStore("of a plugin", (clock) => createPluginMemory("fake", fakeMemoryPlugin(clock)));

describe("the sqlite store", () => {
	it("finds inflected words and words without their accents", async () => {
		const store = createSqliteMemory(openDatabase(":memory:"));
		await store.store({ agent: "a", key: "k", content: "She was running past the café" });
		for (const query of ["run", "runs", "cafe", "CAFÉ", "cafe\u0301"]) {
			expect(outputOf(await store.recall({ agent: "a", query, limit: 1 })).entries.map((entry) => entry.key)).toEqual([
				"k",
			]);
		}
	});

	it("ranks the entry that holds more of the query first, with score 1", async () => {
		const store = createSqliteMemory(openDatabase(":memory:"));
		await store.store({
			agent: "a",
			key: "one",
			content: "green apples in a very long row of other words that say little",
		});
		await store.store({ agent: "a", key: "both", content: "green pears" });
		await store.store({ agent: "a", key: "none", content: "blue" });
		const { entries } = outputOf(await store.recall({ agent: "a", query: "green pears", limit: 5 }));
		expect(entries.map((entry) => entry.key)).toEqual(["both", "one"]);
		expect(entries[0]?.score).toBe(1);
		expect(entries[1]?.score).toBeLessThan(1);
	});

	it("R36 two stores over one database are one memory", async () => {
		const database = openDatabase(":memory:");
		await createSqliteMemory(database).store({ agent: "a", key: "k", content: "x" });
		expect(outputOf(await createSqliteMemory(database).get({ agent: "a", key: "k" })).entry?.content).toBe("x");
	});

	it("answers a broken database with a failure of the operator's", async () => {
		const database = openDatabase(":memory:");
		const store = createSqliteMemory(database);
		database.close();
		expect(await store.count({ agent: "a" })).toMatchObject({
			ok: false,
			error: { code: "memory.store_failed", owner: "operator" },
		});
	});
});

describe("the store over a plugin", () => {
	const answering =
		(output: unknown): CallMemory =>
		async () => ({ ok: true, output, ms: 1 });

	it.each<[string, unknown]>([
		["no entries", {}],
		["a score above 1", { entries: [{ key: "k", content: "c", at: "2030-01-01T00:00:00Z", score: 2 }] }],
		["a time that is none", { entries: [{ key: "k", content: "c", at: "yesterday", score: 1 }] }],
		[
			"more entries than asked for",
			{ entries: [1, 2].map((key) => ({ key: `${key}`, content: "c", at: "2030-01-01T00:00:00Z", score: 1 })) },
		],
		["nothing", undefined],
	])("refuses an answer with %s", async (_name, output) => {
		const store = createPluginMemory("fake", answering(output));
		expect(await store.recall({ agent: "a", query: "x", limit: 1 })).toMatchObject({
			ok: false,
			error: { code: "plugin.bad_answer", owner: "plugin" },
		});
	});

	it("passes on the failure that the plugin reports, and a break without one", async () => {
		const failure = { code: "unsupported" as const, message: "no namespaces" };
		const error = errorReport("plugin.failed", { failure: "unsupported", message: "no namespaces" });
		const reporting = createPluginMemory("fake", async () => ({ ok: false, error, failure, retryable: false, ms: 1 }));
		expect(await reporting.count({ agent: "a", namespace: "n" })).toMatchObject({ ok: false, failure });
		const breaking = createPluginMemory("fake", async () => ({
			ok: false,
			error: errorReport("plugin.timeout"),
			retryable: false,
			ms: 1,
		}));
		expect(await breaking.count({ agent: "a" })).not.toHaveProperty("failure");
	});

	it("does not hand the plugin an input of the wrong shape", async () => {
		let calls = 0;
		const store = createPluginMemory("fake", async () => {
			calls += 1;
			return { ok: true, output: { entries: [] }, ms: 1 };
		});
		expect(await store.recall({ agent: "a", query: "x", limit: -1 })).toMatchObject({
			ok: false,
			failure: { code: "invalid_input" },
		});
		expect(calls).toBe(0);
	});
});

/** A second implementation of the contract, as a plugin would give it: plain lists and no SQL. */
function fakeMemoryPlugin(clock: HandClock): CallMemory {
	let entries: (Entry & { agent: string })[] = [];
	let made = 0;
	const same = (input: InputOf<"memory.get">) => (entry: Entry & { agent: string }) =>
		entry.agent === input.agent && entry.key === input.key && entry.namespace === input.namespace;
	const matching = (input: InputOf<"memory.count">) =>
		entries
			.filter(
				(entry) =>
					entry.agent === input.agent &&
					(input.session === undefined || entry.session === input.session) &&
					(input.namespace === undefined || entry.namespace === input.namespace) &&
					(input.category === undefined ||
						(entry.category !== undefined && [input.category].flat().includes(entry.category))) &&
					(input.since === undefined || Date.parse(entry.at) >= Date.parse(input.since)) &&
					(input.until === undefined || Date.parse(entry.at) < Date.parse(input.until)),
			)
			.reverse();
	const shown = ({ agent: _agent, ...entry }: Entry & { agent: string }): Entry => entry;
	const run: { [O in MemoryOperation]: (input: InputOf<O>) => unknown } = {
		"memory.store": (input) => {
			made += 1;
			const key = input.key ?? `made-${made}`;
			entries = entries.filter((entry) => !same({ ...input, key })(entry));
			entries.push({ ...input, key, at: new Date(clock.now).toISOString() });
			return { key };
		},
		"memory.recall": (input) => {
			const words = input.query.toLowerCase().split(/\s+/u).filter(Boolean);
			const all = input.query.trim() === "" || input.query.trim() === "*";
			const found = matching(input).filter(
				(entry) => all || words.some((word) => entry.content.toLowerCase().includes(word)),
			);
			return { entries: found.slice(0, input.limit).map((entry) => ({ ...shown(entry), score: 1 })) };
		},
		"memory.get": (input) => {
			const found = entries.find(same(input));
			return found === undefined ? {} : { entry: shown(found) };
		},
		"memory.list": (input) => {
			const from = input.offset ?? 0;
			return {
				entries: matching(input)
					.slice(from, from + (input.limit ?? 100))
					.map(shown),
			};
		},
		"memory.forget": (input) => {
			const before = entries.length;
			entries = entries.filter((entry) => !same(input)(entry));
			return { forgotten: entries.length < before };
		},
		"memory.count": (input) => ({ count: matching(input).length }),
		"memory.health": () => ({ ok: true }),
	};
	return async (op, input): Promise<CallOutcome> => {
		const asked = operations[op].input.parse(input);
		// what crosses to a plugin is JSON
		const output = (run[op] as (input: unknown) => unknown)(JSON.parse(JSON.stringify(asked)));
		return { ok: true, output: JSON.parse(JSON.stringify(output)), ms: 1 };
	};
}
