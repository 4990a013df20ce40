import { type Context, defineMemory, type Entry, type KeyInput, type ListInput, type StoreInput } from "@mortise/sdk";
import type { Indexed, Place } from "./keys.js";
import { openStore, type Store } from "./store.js";
import { wordsOf } from "./words.js";

const defaultLimit = 100;

/** The memory store `kv-notes`. Recall scores by the share of the query's words that an entry has, then by age. */
export const notes = defineMemory({
	name: "kv-notes",
	features: ["namespaces", "since"],

	async store(input, context) {
		const key = input.key ?? (await newKey(context));
		const { ms } = await context.host.now();
		await openStore(context).put(placeOf({ ...input, key }), entryOf(input, key, ms));
		return { key };
	},

	async recall(input, context) {
		const store = openStore(context);
		const words = wordsOf(input.query);
		const everything = input.query.trim() === "" || input.query.trim() === "*";
		const found = everything ? await store.byTime(input.agent) : await ranked(store, input.agent, words);
		const entries = await read(store, input, found, { limit: input.limit, offset: 0 });
		return { entries: entries.map(({ entry, at }) => ({ ...entry, score: at.score ?? 1 })) };
	},

	async get(input, context) {
		const entry = await openStore(context).get(placeOf(input));
		return entry === undefined ? {} : { entry };
	},

	async list(input, context) {
		const store = openStore(context);
		const page = { limit: input.limit ?? defaultLimit, offset: input.offset ?? 0 };
		const entries = await read(store, input, await store.byTime(input.agent), page);
		return { entries: entries.map(({ entry }) => entry) };
	},

	async forget(input, context) {
		return { forgotten: await openStore(context).remove(placeOf(input)) };
	},

	async count(input, context) {
		const store = openStore(context);
		const found = (await store.byTime(input.agent)).filter((at) => fitsIndex(at, input));
		// session and category are in the entries only
		if (input.session === undefined && input.category === undefined) return { count: found.length };
		return { count: (await read(store, input, found, { limit: found.length, offset: 0 })).length };
	},

	async health(_input, context) {
		if (context.host.kv === undefined) return { ok: false, detail: "kv is not granted" };
		await context.host.kv({ op: "list", prefix: "health/" });
		return { ok: true };
	},
});

type Filters = Pick<ListInput, "session" | "category" | "namespace" | "since" | "until">;
type Ranked = Indexed & { readonly score?: number };
type Found = { readonly at: Ranked; readonly entry: Entry };

async function ranked(store: Store, agent: string, words: readonly string[]): Promise<readonly Ranked[]> {
	const hits = new Map<string, { at: Indexed; count: number }>();
	for (const list of await Promise.all(words.map((word) => store.byWord(agent, word))))
		for (const at of list) {
			const id = `${at.namespace}/${at.key}`;
			const hit = hits.get(id);
			// an entry that is being replaced may be listed under two times; the newer counts
			if (hit === undefined) hits.set(id, { at, count: 1 });
			else hits.set(id, { at: at.time > hit.at.time ? at : hit.at, count: hit.count + 1 });
		}
	return [...hits.values()]
		.map(({ at, count }) => ({ ...at, score: Math.min(count / words.length, 1) }))
		.sort((one, other) => other.score - one.score || other.time - one.time);
}

/** Reads entries in the given order until the page is full; only what the index cannot decide is read in vain. */
async function read(
	store: Store,
	input: Filters & { readonly agent: string },
	candidates: readonly Ranked[],
	{ limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<readonly Found[]> {
	if (limit === 0 || (Array.isArray(input.category) && input.category.length === 0)) return [];
	const found: Found[] = [];
	let skipped = 0;
	for (const at of candidates) {
		if (!fitsIndex(at, input)) continue;
		const entry = await store.get({ agent: input.agent, namespace: at.namespace, key: at.key });
		if (entry === undefined || Date.parse(entry.at) !== at.time || !fitsEntry(entry, input)) continue;
		if (skipped++ < offset) continue;
		found.push({ at, entry });
		if (found.length === limit) break;
	}
	return found;
}

function fitsIndex({ namespace, time }: Indexed, filters: Filters): boolean {
	if (filters.namespace !== undefined && filters.namespace !== namespace) return false;
	if (filters.since !== undefined && time < Date.parse(filters.since)) return false;
	return filters.until === undefined || time < Date.parse(filters.until);
}

function fitsEntry(entry: Entry, { session, category }: Filters): boolean {
	if (session !== undefined && entry.session !== session) return false;
	if (category === undefined) return true;
	const categories = typeof category === "string" ? [category] : category;
	return entry.category !== undefined && categories.includes(entry.category);
}

function placeOf({ agent, key, namespace }: KeyInput): Place {
	return { agent, key, namespace: namespace ?? "" };
}

function entryOf(input: StoreInput, key: string, ms: number): Entry {
	const { agent: _agent, ...rest } = input;
	return { ...rest, key, at: new Date(ms).toISOString() };
}

async function newKey({ host }: Context): Promise<string> {
	const [{ ms }, { base64 }] = await Promise.all([host.now(), host.random({ bytes: 9 })]);
	return `${ms.toString(36)}-${base64.replaceAll("+", "-").replaceAll("/", "_")}`;
}
