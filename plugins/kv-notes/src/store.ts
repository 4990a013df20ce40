import { type Context, type Entry, type HostArguments, type JsonValue, PluginFailure } from "@mortise/sdk";
import { entryKey, type Place, pageKey, pagePrefix } from "./keys.js";
import { hashOf, wordsOf } from "./words.js";

/** What the index holds of an entry: enough for every filter and for a first ranking. Times are milliseconds since 1970. */
export type Row = {
	readonly time: number;
	readonly namespace: string;
	readonly key: string;
	readonly session?: string;
	readonly category?: string;
	/** The hashes of the words, each between commas. */
	readonly words: string;
};

/**
 * Entries in the bundle's key-value space: a value for each, and beside them an index in pages of some hundred rows, in
 * order of time. A space takes some thousand entries; finding reads the pages, not the entries.
 */
export type Store = {
	/** Stores or replaces an entry, as the newest. */
	readonly put: (place: Place, entry: Entry) => Promise<void>;
	readonly get: (place: Place) => Promise<Entry | undefined>;
	/** Whether something was there. */
	readonly remove: (place: Place) => Promise<boolean>;
	/** Every entry of an agent, newest first; a page is read when it is reached. */
	readonly rows: (agent: string) => AsyncGenerator<Row>;
};

type Stored = { readonly entry: Entry; readonly page: number };
type Page = { readonly rows: readonly Row[]; readonly version: number };

const pageCharacters = 16_000;
const attempts = 10;

/** The store of one call. Throws `unauthorized` when `kv` is not granted. */
export function openStore({ host }: Context): Store {
	if (host.kv === undefined) throw new PluginFailure("unauthorized", "kv is not granted to this plugin");
	const { kv } = host;

	async function read(key: string): Promise<{ value: unknown; version: number }> {
		const { value, version } = await kv({ op: "get", key });
		return { value, version: version ?? 0 };
	}

	async function write(key: string, value: JsonValue, ifVersion?: number): Promise<void> {
		const condition = ifVersion === undefined ? {} : { ifVersion };
		const args = { op: "set" as const, key, value: value as HostArguments<"kv">["value"], ...condition };
		await kv(args);
	}

	async function stored(place: Place): Promise<Stored | undefined> {
		const { value } = await read(entryKey(place));
		return value === undefined || value === null ? undefined : (value as Stored);
	}

	async function readPage(agent: string, page: number): Promise<Page> {
		const { value, version } = await read(pageKey(agent, page));
		return { rows: Array.isArray(value) ? value.map(rowFrom) : [], version };
	}

	/** Page numbers, newest first. */
	async function pagesOf(agent: string): Promise<readonly number[]> {
		const prefix = pagePrefix(agent);
		const keys: string[] = [];
		for (let isMore = true; isMore; ) {
			const after = keys.at(-1);
			const listed = await kv({ op: "list", prefix, ...(after === undefined ? {} : { after }) });
			keys.push(...(listed.keys ?? []));
			isMore = listed.more === true;
		}
		return keys.map((key) => Number(key.slice(prefix.length))).sort((one, other) => other - one);
	}

	/** Changes a page; when another call changed it meanwhile, reads it again and retries. `undefined` leaves it alone. */
	async function change(
		agent: string,
		page: number,
		edit: (rows: readonly Row[]) => readonly Row[] | undefined,
	): Promise<boolean> {
		for (let attempt = 1; ; attempt++) {
			const { rows, version } = await readPage(agent, page);
			const edited = edit(rows);
			if (edited === undefined) return false;
			try {
				await write(pageKey(agent, page), edited.map(rowTo), version);
				return true;
			} catch (error) {
				const changed = error as { readonly code?: unknown; readonly retryable?: unknown };
				if (changed.code !== "unavailable" || changed.retryable === false || attempt === attempts) throw error;
			}
		}
	}

	/** Puts a row on the newest page, or on a new one when that is full; gives back the page. */
	async function append(place: Place, row: Row): Promise<number> {
		const [newest = 1] = await pagesOf(place.agent);
		for (let page = newest; ; page++) {
			const added = await change(place.agent, page, (rows) => {
				const others = rows.filter((one) => !isAt(one, place));
				const full = JSON.stringify(others.map(rowTo)).length > pageCharacters;
				return full ? undefined : [...others, row];
			});
			if (added) return page;
		}
	}

	return {
		async get(place) {
			return (await stored(place))?.entry;
		},
		async put(place, entry) {
			const before = await stored(place);
			const page = await append(place, rowOf(place, entry));
			await write(entryKey(place), { entry, page } as JsonValue);
			if (before !== undefined && before.page !== page) await dropRow(place, before.page);
		},
		async remove(place) {
			const before = await stored(place);
			if (before === undefined) return false;
			await kv({ op: "delete", key: entryKey(place) });
			await dropRow(place, before.page);
			return true;
		},
		async *rows(agent) {
			for (const page of await pagesOf(agent)) yield* (await readPage(agent, page)).rows.toReversed();
		},
	};

	async function dropRow(place: Place, page: number): Promise<void> {
		await change(place.agent, page, (rows) => rows.filter((row) => !isAt(row, place)));
	}
}

function isAt(row: Row, { namespace, key }: Place): boolean {
	return row.namespace === namespace && row.key === key;
}

function rowOf({ namespace, key }: Place, { at, content, session, category }: Entry): Row {
	const words = wordsOf(content).map((word) => `${hashOf(word)},`);
	return {
		time: Date.parse(at),
		namespace,
		key,
		...(session === undefined ? {} : { session }),
		...(category === undefined ? {} : { category }),
		words: `,${words.join("")}`,
	};
}

function rowTo({ time, namespace, key, session, category, words }: Row): JsonValue {
	return [time, namespace, key, words, session ?? null, category ?? null];
}

function rowFrom(value: unknown): Row {
	const [time, namespace, key, words, session, category] = value as [number, string, string, string, unknown, unknown];
	return {
		time,
		namespace,
		key,
		words,
		...(typeof session === "string" ? { session } : {}),
		...(typeof category === "string" ? { category } : {}),
	};
}
