import { type HostArguments, type HostValue, maxListedKeys } from "@mortise/sdk/contract";
import { type Database, migrate } from "../database.js";
import { Refusal } from "./refusal.js";

/** Caps of the key-value space of one bundle and agent. Sizes are bytes of JSON and keys in UTF-8. */
export const kvCaps = { valueBytes: 64 * 1024, keys: 10_000, totalBytes: 16 * 1024 ** 2 } as const;

/** Whose space: a bundle sees its own only, one for each agent. */
export type KvSpace = { readonly bundle: string; readonly agent: string };

/** Key-value spaces in the host's database. */
export type Kv = {
	/** Drops every space of a bundle. */
	readonly drop: (bundle: string) => void;
	/**
	 * `host.kv`. `get`: value and version, or neither. `set`: the new version. `delete`: nothing, also when absent.
	 * `list`: keys with the prefix behind `after`, sorted by code point, at most 1,000; `more` when there are others. Versions grow within a space and never come again. A write with
	 * `ifVersion` (0: only when absent) that finds another version fails as `unavailable`, retryable; a full space as
	 * `unavailable`, not retryable.
	 *
	 * @throws Refusal `invalid_input`, `unavailable`
	 */
	readonly perform: (space: KvSpace, args: HostArguments<"kv">) => HostValue<"kv">;
};

const migrations = [
	`CREATE TABLE kv (
		bundle TEXT NOT NULL, agent TEXT NOT NULL, key TEXT NOT NULL,
		value TEXT NOT NULL, bytes INTEGER NOT NULL, version INTEGER NOT NULL,
		PRIMARY KEY (bundle, agent, key)
	) STRICT, WITHOUT ROWID;
	CREATE TABLE kv_space (
		bundle TEXT NOT NULL, agent TEXT NOT NULL,
		keys INTEGER NOT NULL, bytes INTEGER NOT NULL, version INTEGER NOT NULL,
		PRIMARY KEY (bundle, agent)
	) STRICT, WITHOUT ROWID`,
];

type Row = { readonly value: string; readonly bytes: number; readonly version: number };
type SpaceRow = { readonly keys: number; readonly bytes: number; readonly version: number };

/** Prepares the tables of the key-value spaces. */
export function createKv(database: Database): Kv {
	migrate(database, "kv", migrations);
	const where = "bundle = @bundle AND agent = @agent";
	const getRow = database.prepare<[object], Row>(`SELECT value, bytes, version FROM kv WHERE ${where} AND key = @key`);
	const listKeys = database.prepare<[object], { key: string }>(
		`SELECT key FROM kv WHERE ${where} AND key >= @prefix AND key > @after AND substr(key, 1, length(@prefix)) = @prefix
		ORDER BY key LIMIT ${maxListedKeys + 1}`,
	);
	const putRow = database.prepare<[object]>(
		`INSERT INTO kv VALUES (@bundle, @agent, @key, @value, @bytes, @version)
		ON CONFLICT DO UPDATE SET value = excluded.value, bytes = excluded.bytes, version = excluded.version`,
	);
	const deleteRow = database.prepare<[object]>(`DELETE FROM kv WHERE ${where} AND key = @key`);
	const getSpace = database.prepare<[object], SpaceRow>(`SELECT keys, bytes, version FROM kv_space WHERE ${where}`);
	const putSpace = database.prepare<[object]>(
		`INSERT INTO kv_space VALUES (@bundle, @agent, @keys, @bytes, @version)
		ON CONFLICT DO UPDATE SET keys = excluded.keys, bytes = excluded.bytes, version = excluded.version`,
	);
	const spaceOf = (space: KvSpace): SpaceRow => getSpace.get(space) ?? { keys: 0, bytes: 0, version: 0 };

	const set = (space: KvSpace, key: string, value: string, ifVersion: number | undefined): HostValue<"kv"> => {
		const bytes = Buffer.byteLength(value) + Buffer.byteLength(key);
		const old = getRow.get({ ...space, key });
		checkVersion(old, ifVersion);
		const before = spaceOf(space);
		const after = {
			keys: before.keys + (old === undefined ? 1 : 0),
			bytes: before.bytes + bytes - (old?.bytes ?? 0),
			version: before.version + 1,
		};
		// replacing a value by a smaller one always works, so a full space can be emptied
		if (after.keys > kvCaps.keys && old === undefined) throw full(`${kvCaps.keys} keys`);
		if (after.bytes > kvCaps.totalBytes && after.bytes > before.bytes) throw full(`${kvCaps.totalBytes} bytes`);
		putRow.run({ ...space, key, value, bytes, version: after.version });
		putSpace.run({ ...space, ...after });
		return { version: after.version };
	};
	const remove = (space: KvSpace, key: string, ifVersion: number | undefined): HostValue<"kv"> => {
		const old = getRow.get({ ...space, key });
		checkVersion(old, ifVersion);
		if (old === undefined) return {};
		const before = spaceOf(space);
		deleteRow.run({ ...space, key });
		putSpace.run({ ...space, keys: before.keys - 1, bytes: before.bytes - old.bytes, version: before.version + 1 });
		return {};
	};
	const write = database.transaction((action: () => HostValue<"kv">) => action()).immediate;

	const dropRows = database.prepare<[string]>("DELETE FROM kv WHERE bundle = ?");
	const dropSpaces = database.prepare<[string]>("DELETE FROM kv_space WHERE bundle = ?");
	const drop = database.transaction((bundle: string) => {
		dropRows.run(bundle);
		dropSpaces.run(bundle);
	}).immediate;

	return {
		drop: (bundle) => void drop(bundle),
		perform: ({ bundle, agent }, args) => {
			const space = { bundle, agent };
			if (args.op === "list") {
				const prefix = checkText(args.prefix ?? "", "prefix");
				const after = checkText(args.after ?? "", "after");
				const keys = listKeys.all({ ...space, prefix, after }).map((row) => row.key);
				const isMore = keys.length > maxListedKeys;
				return { keys: keys.slice(0, maxListedKeys), ...(isMore ? { more: true } : {}) };
			}
			if (args.key === undefined) throw new Refusal("invalid_input", `kv ${args.op} needs a key`);
			const key = checkText(args.key, "key");
			switch (args.op) {
				case "get": {
					const row = getRow.get({ ...space, key });
					return row === undefined ? {} : { value: JSON.parse(row.value), version: row.version };
				}
				case "delete":
					return write(() => remove(space, key, args.ifVersion));
				case "set": {
					if (args.value === undefined) throw new Refusal("invalid_input", "kv set needs a value");
					const value = JSON.stringify(args.value);
					if (Buffer.byteLength(value) > kvCaps.valueBytes)
						throw new Refusal("invalid_input", `the value is larger than ${kvCaps.valueBytes} bytes`);
					return write(() => set(space, key, value, args.ifVersion));
				}
				default:
					return args.op satisfies never;
			}
		},
	};
}

function checkVersion(row: Row | undefined, ifVersion: number | undefined): void {
	const version = row?.version ?? 0;
	if (ifVersion !== undefined && ifVersion !== version)
		throw new Refusal("unavailable", `the version is ${version}, not ${ifVersion}; read the key again`, {
			retryable: true,
		});
}

/** SQLite cuts text at NUL and mends lone surrogates: two keys could become one. */
function checkText(text: string, what: string): string {
	if (/\0|\p{Surrogate}/u.test(text)) throw new Refusal("invalid_input", `the ${what} holds a NUL or a lone surrogate`);
	return text;
}

function full(cap: string): Refusal {
	return new Refusal("unavailable", `the key-value space of this plugin is full (${cap})`, { retryable: false });
}
