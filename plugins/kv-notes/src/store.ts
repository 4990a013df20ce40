import { type Context, type Entry, type HostArguments, type HostValue, PluginFailure } from "@mortise/sdk";
import { entryKey, type Indexed, indexed, type Place, timeKey, timePrefix, wordKey, wordPrefix } from "./keys.js";
import { wordsOf } from "./words.js";

/** Reads and writes entries and their index in the bundle's key-value space. */
export type Store = {
	readonly put: (place: Place, entry: Entry) => Promise<void>;
	readonly get: (place: Place) => Promise<Entry | undefined>;
	/** Whether something was there. */
	readonly remove: (place: Place) => Promise<boolean>;
	/** Every entry of an agent, newest first, from the index alone. */
	readonly byTime: (agent: string) => Promise<readonly Indexed[]>;
	/** Every entry of an agent that has the word, newest first, from the index alone. */
	readonly byWord: (agent: string, word: string) => Promise<readonly Indexed[]>;
};

/** The store of one call. Throws `unauthorized` when `kv` is not granted. */
export function openStore({ host }: Context): Store {
	const { kv } = host;
	if (kv === undefined) throw new PluginFailure("unauthorized", "kv is not granted to this plugin");
	const call = (args: HostArguments<"kv">): Promise<HostValue<"kv">> => kv(args);

	async function get(place: Place): Promise<Entry | undefined> {
		const { value } = await call({ op: "get", key: entryKey(place) });
		return value === undefined || value === null ? undefined : (value as Entry);
	}

	async function unindex(place: Place, entry: Entry, keep: ReadonlySet<string>): Promise<void> {
		const old = indexKeys(place, entry).filter((key) => !keep.has(key));
		await Promise.all(old.map((key) => call({ op: "delete", key })));
	}

	async function list(prefix: string): Promise<readonly Indexed[]> {
		const { keys = [] } = await call({ op: "list", prefix });
		return [...keys].sort().map((key) => indexed(prefix, key));
	}

	return {
		get,
		async put(place, entry) {
			const before = await get(place);
			const keys = indexKeys(place, entry);
			await call({ op: "set", key: entryKey(place), value: entry as HostArguments<"kv">["value"] });
			await Promise.all(keys.map((key) => call({ op: "set", key, value: 1 })));
			if (before !== undefined) await unindex(place, before, new Set(keys));
		},
		async remove(place) {
			const entry = await get(place);
			if (entry === undefined) return false;
			await call({ op: "delete", key: entryKey(place) });
			await unindex(place, entry, new Set());
			return true;
		},
		byTime: (agent) => list(timePrefix(agent)),
		byWord: (agent, word) => list(wordPrefix(agent, word)),
	};
}

function indexKeys(place: Place, entry: Entry): readonly string[] {
	const time = Date.parse(entry.at);
	return [timeKey(place, time), ...wordsOf(entry.content).map((word) => wordKey(place, word, time))];
}
