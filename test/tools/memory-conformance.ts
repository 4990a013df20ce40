import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MemoryOutcome, MemoryStore } from "../../src/tools/index.js";

/** A clock that a test moves by hand. */
export type HandClock = { now: number };

export function outputOf<Output>(outcome: MemoryOutcome<Output>): Output {
	if (!outcome.ok) throw new Error(outcome.error.message);
	return outcome.output;
}

/** What every memory store promises, whoever serves it (rules R36, R37). `open` gives an empty store each time. */
export function describeMemoryStore(name: string, open: (clock: HandClock) => MemoryStore): void {
	const start = Date.parse("2030-01-01T00:00:00.000Z");
	const opened = (): { store: MemoryStore; clock: HandClock; add: Add } => {
		const clock = { now: start };
		const store = open(clock);
		const add: Add = async (content, more = {}) => {
			clock.now += 1000;
			return outputOf(await store.store({ agent: "a", content, ...more })).key;
		};
		return { store, clock, add };
	};
	type Add = (content: string, more?: Partial<Parameters<MemoryStore["store"]>[0]>) => Promise<string>;
	const keys = (output: { entries: readonly { key: string }[] }): string[] => output.entries.map((entry) => entry.key);

	describe(`R37 the memory store ${name}`, () => {
		it("gives back what was stored, with all its fields", async () => {
			const { store, add } = opened();
			const more = {
				key: "k",
				category: "c",
				session: "s",
				namespace: "n",
				importance: 0.5,
				metadata: { deep: [1, null, { a: "b" }] },
			};
			expect(await add("the content", more)).toBe("k");
			const { entry } = outputOf(await store.get({ agent: "a", key: "k", namespace: "n" }));
			expect(entry).toEqual({ ...more, content: "the content", at: new Date(start + 1000).toISOString() });
			expect(outputOf(await store.get({ agent: "a", key: "k" }))).toEqual({});
		});

		it("makes a key of its own where none is given, another each time", async () => {
			const { add } = opened();
			expect(await add("one")).not.toBe(await add("one"));
		});

		it("replaces an entry of the same key and namespace, which then is the newest", async () => {
			const { store, add } = opened();
			await add("old", { key: "k", category: "c" });
			await add("other", { key: "other" });
			await add("new", { key: "k" });
			await add("elsewhere", { key: "k", namespace: "n" });
			expect(outputOf(await store.count({ agent: "a" }))).toEqual({ count: 3 });
			expect(outputOf(await store.get({ agent: "a", key: "k" })).entry).toMatchObject({ content: "new" });
			expect(outputOf(await store.get({ agent: "a", key: "k" })).entry).not.toHaveProperty("category");
			expect(outputOf(await store.list({ agent: "a" })).entries.map((entry) => entry.content)).toEqual([
				"elsewhere",
				"new",
				"other",
			]);
		});

		it("keeps agents apart in every operation", async () => {
			const { store, add } = opened();
			await add("secret word", { key: "k" });
			const other = { agent: "b" };
			expect(outputOf(await store.get({ ...other, key: "k" }))).toEqual({});
			expect(outputOf(await store.forget({ ...other, key: "k" }))).toEqual({ forgotten: false });
			expect(outputOf(await store.recall({ ...other, query: "secret", limit: 5 })).entries).toEqual([]);
			expect(outputOf(await store.recall({ ...other, query: "*", limit: 5 })).entries).toEqual([]);
			expect(outputOf(await store.list(other)).entries).toEqual([]);
			expect(outputOf(await store.count(other))).toEqual({ count: 0 });
			await store.store({ ...other, key: "k", content: "mine" });
			expect(outputOf(await store.get({ agent: "a", key: "k" })).entry?.content).toBe("secret word");
		});

		it("forgets an entry, and says whether there was one", async () => {
			const { store, add } = opened();
			await add("forget me please", { key: "k" });
			expect(outputOf(await store.forget({ agent: "a", key: "k" }))).toEqual({ forgotten: true });
			expect(outputOf(await store.forget({ agent: "a", key: "k" }))).toEqual({ forgotten: false });
			expect(outputOf(await store.recall({ agent: "a", query: "forget", limit: 5 })).entries).toEqual([]);
		});

		it.each(["", "*"])("gives the newest first for the query %j", async (query) => {
			const { store, add } = opened();
			for (const key of ["1", "2", "3"]) await add("same", { key });
			expect(keys(outputOf(await store.recall({ agent: "a", query, limit: 2 })))).toEqual(["3", "2"]);
		});

		it("finds by word, whatever the case, and gives scores from 0 to 1, best first", async () => {
			const { store, add } = opened();
			await add("the weather in Lisbon is mild", { key: "lisbon" });
			await add("trains in Japan are punctual", { key: "trains" });
			const { entries } = outputOf(await store.recall({ agent: "a", query: "LISBON weather", limit: 5 }));
			expect(entries.map((entry) => entry.key)).toEqual(["lisbon"]);
			for (const entry of entries) {
				expect(entry.score).toBeGreaterThanOrEqual(0);
				expect(entry.score).toBeLessThanOrEqual(1);
			}
			expect(outputOf(await store.recall({ agent: "a", query: "volcano", limit: 5 })).entries).toEqual([]);
		});

		it("finds text in scripts without spaces and symbols", async () => {
			const { store, add } = opened();
			await add("東京タワーに行く", { key: "tokyo" });
			await add("good 🙂 mood", { key: "mood" });
			await add("Größe und Maß", { key: "size" });
			const find = async (query: string): Promise<string[]> =>
				keys(outputOf(await store.recall({ agent: "a", query, limit: 5 })));
			expect(await find("東京")).toEqual(["tokyo"]);
			expect(await find("🙂")).toEqual(["mood"]);
			expect(await find("größe")).toEqual(["size"]);
		});

		it("keeps to the limit, also to none", async () => {
			const { store, add } = opened();
			for (let index = 0; index < 5; index += 1) await add("word here");
			for (const query of ["word", "*"]) {
				expect(outputOf(await store.recall({ agent: "a", query, limit: 0 })).entries).toHaveLength(0);
				expect(outputOf(await store.recall({ agent: "a", query, limit: 3 })).entries).toHaveLength(3);
			}
			expect(outputOf(await store.list({ agent: "a", limit: 0 })).entries).toHaveLength(0);
		});

		it("lists newest first from an offset", async () => {
			const { store, add } = opened();
			for (const key of ["1", "2", "3", "4"]) await add("x", { key });
			expect(keys(outputOf(await store.list({ agent: "a", limit: 2, offset: 1 })))).toEqual(["3", "2"]);
			expect(keys(outputOf(await store.list({ agent: "a", offset: 9 })))).toEqual([]);
		});

		it("takes an absent filter as all and an empty list as none, in recall, list and count", async () => {
			const { store, add } = opened();
			await add("word", { key: "1", category: "x", session: "s1", namespace: "n1" });
			await add("word", { key: "2", category: "y", session: "s2" });
			await add("word", { key: "3" });
			const cases: [object, string[]][] = [
				[{}, ["3", "2", "1"]],
				[{ category: [] }, []],
				[{ category: "x" }, ["1"]],
				[{ category: ["x", "y", "x"] }, ["2", "1"]],
				[{ category: ["none"] }, []],
				[{ session: "s2" }, ["2"]],
				[{ namespace: "n1" }, ["1"]],
				[{ namespace: "n1", category: "y" }, []],
				[{ since: "2030-01-01T00:00:02Z" }, ["3", "2"]],
				[{ until: "2030-01-01T00:00:02.000Z" }, ["1"]],
				[{ since: "2030-01-01T00:00:02.000Z", until: "2030-01-01T00:00:03Z" }, ["2"]],
			];
			for (const [filters, expected] of cases) {
				expect(
					keys(outputOf(await store.recall({ agent: "a", query: "*", limit: 9, ...filters }))),
					JSON.stringify(filters),
				).toEqual(expected);
				expect(keys(outputOf(await store.recall({ agent: "a", query: "word", limit: 9, ...filters }))).sort()).toEqual(
					[...expected].sort(),
				);
				expect(keys(outputOf(await store.list({ agent: "a", ...filters })))).toEqual(expected);
				expect(outputOf(await store.count({ agent: "a", ...filters }))).toEqual({ count: expected.length });
			}
		});

		it("says that it is well", async () => {
			expect(outputOf(await opened().store.health({}))).toMatchObject({ ok: true });
		});

		it("answers any query, and takes no text of it for an instruction", async () => {
			const { store, add } = opened();
			await add("plain words", { key: "k" });
			await store.store({ agent: "b", content: "plain words of another" });
			const tricky = fc.oneof(
				fc.string({ unit: "binary" }),
				fc.constantFrom(
					'"',
					"'",
					"plain OR",
					"NOT plain",
					"content:plain",
					"plain*",
					"(",
					"NEAR(a b)",
					"^plain",
					"a AND",
					"-",
					"{a b}:c",
					"'; DROP TABLE memory_entries; --",
					"%",
					"_",
					"\u0000",
					"\u0301",
				),
			);
			await fc.assert(
				fc.asyncProperty(tricky, async (query) => {
					const { entries } = outputOf(await store.recall({ agent: "a", query, limit: 9 }));
					expect(entries.every((entry) => entry.key === "k")).toBe(true);
				}),
				{ numRuns: 200 },
			);
		});

		it("gives back any text as it was", async () => {
			const { store } = opened();
			const texts = fc.string({ unit: "grapheme" });
			await fc.assert(
				fc.asyncProperty(texts, texts, async (content, category) => {
					await store.store({ agent: "a", key: "k", content, category });
					expect(outputOf(await store.get({ agent: "a", key: "k" })).entry).toMatchObject({ content, category });
				}),
				{ numRuns: 100 },
			);
		});
	});
}
