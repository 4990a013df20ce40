import type { Manifest } from "../contract/manifest.js";
import type { CountInput, Entry, ListInput, RecallInput, StoreInput } from "../contract/memory.js";
import { type ConformanceCase, expect, fail, type Opened, succeed, tick, unknownOperation } from "./case.js";

/** Cases for a bundle's memory store. Each case works as agents of its own, so a store need not be empty. */
export function memoryCases(manifest: Manifest, run: string): readonly ConformanceCase[] {
	const [memory] = manifest.provides.memory ?? [];
	const none = memory === undefined ? { skip: "the manifest provides no memory" } : {};
	const features = memory?.features ?? [];
	const has = (feature: string) => features.includes(feature);
	const lacks = (feature: string) => ({ skip: `the manifest does not declare the feature ${feature}` });
	const define = (
		id: string,
		title: string,
		body: (opened: Opened, agent: string) => Promise<void>,
	): ConformanceCase => ({
		id: `memory.${id}`,
		title,
		...none,
		run: (opened) => body(opened, `conformance-${run}-${id}`),
	});

	return [
		define(
			"store-get",
			"what was stored under a key is got back, with its time and every given part",
			async (opened, agent) => {
				const given = {
					key: "k",
					content: "the kettle is blue",
					category: "fact",
					session: "s",
					importance: 0.5,
					metadata: { a: [1] },
				};
				const { key } = await store(opened, { agent, ...given });
				expect(key === "k", "the key should be the given one", key);
				const { entry } = await succeed(opened, "memory.get", { agent, key });
				expect(entry !== undefined, "the entry should be there");
				const { at, ...rest } = entry;
				for (const [name, value] of Object.entries(given))
					expect(same(rest[name as keyof typeof rest], value), `${name} should come back as given`, entry);
				expect(/Z$/.test(at), "the time should be ISO 8601 in UTC", at);
			},
		),
		define("made-key", "without a key each entry gets one of its own", async (opened, agent) => {
			const one = await store(opened, { agent, content: "one" });
			const two = await store(opened, { agent, content: "two" });
			expect(one.key !== "" && one.key !== two.key, "made keys should differ", [one.key, two.key]);
			const { entry } = await succeed(opened, "memory.get", { agent, key: one.key });
			expect(entry?.content === "one", "a made key should find its entry", entry);
		}),
		define("replace", "storing under an existing key replaces the entry", async (opened, agent) => {
			await store(opened, { agent, key: "k", content: "elephant", category: "old" });
			await tick(opened);
			await store(opened, { agent, key: "k", content: "giraffe" });
			const { entry } = await succeed(opened, "memory.get", { agent, key: "k" });
			expect(entry?.content === "giraffe" && entry.category === undefined, "only the new entry should be left", entry);
			expect((await count(opened, { agent })) === 1, "the entry should count once");
			const { entries } = await recall(opened, { agent, query: "elephant" });
			expect(
				entries.every(({ content }) => content === "giraffe"),
				"the old content should not be found",
				entries,
			);
		}),
		define("absent", "an absent entry is no failure", async (opened, agent) => {
			const { entry } = await succeed(opened, "memory.get", { agent, key: "nothing" });
			expect(entry === undefined, "there should be no entry", entry);
			const { forgotten } = await succeed(opened, "memory.forget", { agent, key: "nothing" });
			expect(!forgotten, "nothing should have been forgotten");
			expect((await recall(opened, { agent, query: "anything" })).entries.length === 0, "nothing should be recalled");
		}),
		define("forget", "a forgotten entry is gone from get, list, recall and count", async (opened, agent) => {
			await store(opened, { agent, key: "k", content: "the password hint" });
			const { forgotten } = await succeed(opened, "memory.forget", { agent, key: "k" });
			expect(forgotten, "it should say that something was there");
			const { entry } = await succeed(opened, "memory.get", { agent, key: "k" });
			const { entries } = await recall(opened, { agent, query: "password" });
			const listed = await list(opened, { agent });
			const left = { entry, entries, listed, count: await count(opened, { agent }) };
			expect(entry === undefined && entries.length + listed.length + left.count === 0, "nothing should be left", left);
		}),
		define(
			"recall",
			"recall finds entries by their words, best match first, scores from 0 to 1",
			async (opened, agent) => {
				await store(opened, { agent, key: "a", content: "the red kettle is in the kitchen" });
				await store(opened, { agent, key: "b", content: "the red car" });
				await store(opened, { agent, key: "c", content: "nothing alike" });
				const { entries } = await recall(opened, { agent, query: "red kettle" });
				expect(entries[0]?.key === "a", "the best match should come first", entries);
				expect(
					!entries.some(({ key }) => key === "c"),
					"an entry without any of the words should not be found",
					entries,
				);
				const sorted = entries.every((entry, index) => index === 0 || (entries[index - 1]?.score ?? 0) >= entry.score);
				expect(
					sorted,
					"scores should fall",
					entries.map(({ score }) => score),
				);
			},
		),
		define("hostile-query", "a query is words, never a syntax", async (opened, agent) => {
			await store(opened, { agent, key: "k", content: "plain words" });
			for (const query of ['"', "a AND", "NEAR(", "'; --", "*)", "col:plain", "-words", "%", "_", "plain\u0000words"])
				await recall(opened, { agent, query });
		}),
		define("newest-first", 'the queries "" and "*" and a list give the newest first', async (opened, agent) => {
			await storeInTurn(opened, agent, ["one", "two", "three"]);
			const expected = ["three", "two", "one"];
			for (const query of ["", "*"]) {
				const { entries } = await recall(opened, { agent, query });
				expect(same(keys(entries), expected), `recall ${JSON.stringify(query)} should be newest first`, keys(entries));
			}
			const listed = keys(await list(opened, { agent }));
			expect(same(listed, expected), "list should be newest first", listed);
		}),
		define("limit-offset", "limit and offset cut the list", async (opened, agent) => {
			await storeInTurn(opened, agent, ["one", "two", "three"]);
			const page = keys(await list(opened, { agent, limit: 1, offset: 1 }));
			expect(same(page, ["two"]), "the second page of one should hold the second entry", page);
			expect((await list(opened, { agent, limit: 0 })).length === 0, "a limit of 0 should give nothing");
			const { entries } = await recall(opened, { agent, query: "*", limit: 2 });
			expect(entries.length === 2, "recall should keep to its limit", keys(entries));
		}),
		define("filters", "an absent filter means all, an empty list none", async (opened, agent) => {
			await store(opened, { agent, key: "a", content: "apple", category: "fruit", session: "s1" });
			await store(opened, { agent, key: "b", content: "apple pie", category: "cake", session: "s2" });
			await store(opened, { agent, key: "c", content: "apple core" });
			const ask = async (filter: object) => [
				keys((await recall(opened, { agent, query: "apple", ...filter })).entries)
					.sort()
					.join(),
				keys(await list(opened, { agent, ...filter }))
					.sort()
					.join(),
				String(await count(opened, { agent, ...filter })),
			];
			const expectAll = async (filter: object, ...found: readonly string[]) => {
				const seen = await ask(filter);
				const wanted = [found.join(), found.join(), String(found.length)];
				expect(same(seen, wanted), `${JSON.stringify(filter)} should match ${found.join() || "nothing"}`, seen);
			};
			await expectAll({}, "a", "b", "c");
			await expectAll({ category: [] });
			await expectAll({ category: "fruit" }, "a");
			await expectAll({ category: ["fruit", "cake"] }, "a", "b");
			await expectAll({ session: "s2" }, "b");
			await expectAll({ session: "s2", category: "fruit" });
		}),
		define("agents", "one agent never sees another's entries", async (opened, agent) => {
			const other = `${agent}-other`;
			await store(opened, { agent, key: "k", content: "mine" });
			await store(opened, { agent: other, key: "k", content: "theirs" });
			const { entry } = await succeed(opened, "memory.get", { agent, key: "k" }, { agent });
			expect(entry?.content === "mine", "each agent should have its own key", entry);
			expect((await count(opened, { agent })) === 1, "the other's entry should not count");
			expect(
				(await recall(opened, { agent, query: "theirs" })).entries.length === 0,
				"the other's should not be found",
			);
			await succeed(opened, "memory.forget", { agent, key: "k" }, { agent });
			const kept = await succeed(opened, "memory.get", { agent: other, key: "k" }, { agent: other });
			expect(kept.entry?.content === "theirs", "the other's entry should be left alone", kept);
		}),
		define("unicode", "keys and contents of any script come back unchanged and are found", async (opened, agent) => {
			const content = 'Příliš žluťoučký kůň 世界 🦊 \u0000 \\ / % "';
			await store(opened, { agent, key: "ключ/1%2F 🔑", content });
			const { entry } = await succeed(opened, "memory.get", { agent, key: "ключ/1%2F 🔑" });
			expect(entry?.content === content, "the content should be unchanged", entry);
			const { entries } = await recall(opened, { agent, query: "žluťoučký" });
			expect(entries.length === 1, "a word with marks should be found", entries);
			expect(keys(await list(opened, { agent })).join() === "ключ/1%2F 🔑", "the key should be listed as it was given");
		}),
		{
			...define("since", "since is inclusive, until exclusive", async (opened, agent) => {
				await storeInTurn(opened, agent, ["one", "two", "three"]);
				const middle = (await succeed(opened, "memory.get", { agent, key: "two" })).entry?.at;
				const after = keys(await list(opened, { agent, since: middle }));
				expect(same(after, ["three", "two"]), "since should include its own time", after);
				const before = keys(await list(opened, { agent, until: middle }));
				expect(same(before, ["one"]), "until should exclude its own time", before);
			}),
			...(has("since") ? none : lacks("since")),
		},
		{
			...define("namespaces", "a namespace parts keys, and filters", async (opened, agent) => {
				await store(opened, { agent, key: "k", content: "apple", namespace: "n1" });
				await store(opened, { agent, key: "k", content: "pear", namespace: "n2" });
				const { entry } = await succeed(opened, "memory.get", { agent, key: "k", namespace: "n2" });
				expect(entry?.content === "pear", "each namespace should have its own key", entry);
				expect((await count(opened, { agent })) === 2, "an absent namespace should mean all");
				expect((await count(opened, { agent, namespace: "n1" })) === 1, "a namespace should filter");
				const { entries } = await recall(opened, { agent, query: "apple", namespace: "n2" });
				expect(entries.length === 0, "recall should keep to its namespace", entries);
			}),
			...(has("namespaces") ? none : lacks("namespaces")),
		},
		define("unsupported", "an option the store does not know is refused, never dropped", async (opened, agent) => {
			await fail(opened, "memory.recall", { agent, query: "*", limit: 1, no_such_option: true }, "unsupported");
			await fail(opened, "memory.list", { agent, no_such_option: true }, "unsupported");
			if (!has("namespaces")) await fail(opened, "memory.count", { agent, namespace: "n" }, "unsupported");
			if (!has("since")) await fail(opened, "memory.count", { agent, since: "2026-01-01T00:00:00Z" }, "unsupported");
		}),
		define("invalid", "input of the wrong shape fails with invalid_input", async (opened, agent) => {
			await fail(opened, "memory.store", { agent }, "invalid_input");
			await fail(opened, "memory.recall", { agent, query: "*", limit: -1 }, "invalid_input");
			await fail(opened, "memory.get", { agent, key: 7 }, "invalid_input");
		}),
		define("health", "health says whether the store is well", async (opened) => {
			const { ok } = await succeed(opened, "memory.health", {});
			expect(ok, "the store should be well");
		}),
		{ ...unknownOperation("memory", manifest), ...none },
	];
}

const asAgent = ({ agent }: { readonly agent: string }) => ({ agent });

function store(opened: Opened, input: StoreInput): Promise<{ key: string }> {
	return succeed(opened, "memory.store", input, asAgent(input));
}

async function storeInTurn(opened: Opened, agent: string, names: readonly string[]): Promise<void> {
	for (const key of names) {
		await store(opened, { agent, key, content: `entry ${key}` });
		await tick(opened);
	}
}

function recall(opened: Opened, input: Omit<RecallInput, "limit"> & { readonly limit?: number }) {
	return succeed(opened, "memory.recall", { limit: 10, ...input }, asAgent(input));
}

async function list(opened: Opened, input: ListInput): Promise<readonly Entry[]> {
	return (await succeed(opened, "memory.list", input, asAgent(input))).entries;
}

async function count(opened: Opened, input: CountInput): Promise<number> {
	return (await succeed(opened, "memory.count", input, asAgent(input))).count;
}

function keys(entries: readonly Entry[]): string[] {
	return entries.map(({ key }) => key);
}

function same(one: unknown, other: unknown): boolean {
	return JSON.stringify(one) === JSON.stringify(other);
}
