import {
	type Context,
	defineMemory,
	type Entry,
	type KeyInput,
	type ListInput,
	type RecallInput,
	type StoreInput,
} from "@mortise/sdk";
import type { Place } from "./keys.js";
import { openStore, type Row, type Store } from "./store.js";
import { hashOf, wordsOf } from "./words.js";

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
		const query = input.query.trim();
		const store = openStore(context);
		if (query !== "" && query !== "*") return { entries: await search(store, input, wordsOf(query)) };
		const page = { limit: input.limit, offset: 0 };
		return { entries: (await newest(store, input, page)).map((entry) => ({ ...entry, score: 1 })) };
	},

	async get(input, context) {
		const entry = await openStore(context).get(placeOf(input));
		return entry === undefined ? {} : { entry };
	},

	async list(input, context) {
		const page = { limit: input.limit ?? defaultLimit, offset: input.offset ?? 0 };
		return { entries: await newest(openStore(context), input, page) };
	},

	async forget(input, context) {
		return { forgotten: await openStore(context).remove(placeOf(input)) };
	},

	async count(input, context) {
		let count = 0;
		for await (const row of openStore(context).rows(input.agent)) if (fits(row, input)) count++;
		return { count };
	},

	async health(_input, context) {
		if (context.host.kv === undefined) return { ok: false, detail: "kv is not granted" };
		await context.host.kv({ op: "get", key: "health" });
		return { ok: true };
	},
});

type Filters = Pick<ListInput, "session" | "category" | "namespace" | "since" | "until">;

async function newest(
	store: Store,
	input: Filters & { readonly agent: string },
	{ limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<Entry[]> {
	const found: Entry[] = [];
	let skipped = 0;
	if (limit === 0) return found;
	for await (const row of store.rows(input.agent)) {
		if (!fits(row, input) || skipped++ < offset) continue;
		const entry = await entryAt(store, input.agent, row);
		if (entry !== undefined) found.push(entry);
		if (found.length === limit) break;
	}
	return found;
}

async function search(
	store: Store,
	input: RecallInput,
	words: readonly string[],
): Promise<(Entry & { score: number })[]> {
	const marks = words.map((word) => `,${hashOf(word)},`);
	const candidates: { readonly row: Row; readonly hits: number }[] = [];
	for await (const row of store.rows(input.agent)) {
		if (!fits(row, input)) continue;
		const hits = marks.filter((mark) => row.words.includes(mark)).length;
		if (hits > 0) candidates.push({ row, hits });
	}
	// stable, so equal ones stay newest first
	candidates.sort((one, other) => other.hits - one.hits);

	const found: (Entry & { score: number })[] = [];
	for (const { row } of candidates) {
		if (found.length === input.limit) break;
		const entry = await entryAt(store, input.agent, row);
		const own = new Set(entry === undefined ? [] : wordsOf(entry.content));
		const score = words.filter((word) => own.has(word)).length / words.length;
		// two words may share a hash: the entry itself decides
		if (entry !== undefined && score > 0) found.push({ ...entry, score });
	}
	return found.sort((one, other) => other.score - one.score);
}

/** The entry of a row; `undefined` when it was replaced or forgotten since the row was read. */
async function entryAt(store: Store, agent: string, row: Row): Promise<Entry | undefined> {
	const entry = await store.get({ agent, namespace: row.namespace, key: row.key });
	return entry !== undefined && Date.parse(entry.at) === row.time ? entry : undefined;
}

function fits(row: Row, { session, category, namespace, since, until }: Filters): boolean {
	if (namespace !== undefined && row.namespace !== namespace) return false;
	if (session !== undefined && row.session !== session) return false;
	if (since !== undefined && row.time < Date.parse(since)) return false;
	if (until !== undefined && row.time >= Date.parse(until)) return false;
	if (category === undefined) return true;
	const categories = typeof category === "string" ? [category] : category;
	return row.category !== undefined && categories.includes(row.category);
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
