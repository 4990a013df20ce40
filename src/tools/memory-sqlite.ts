import { randomUUID } from "node:crypto";
import type { Entry, JsonObject } from "@mortise/sdk/contract";
import { type Database, migrate } from "../database.js";
import { errorReport } from "../errors.js";
import { type Filters, filterWords, ftsQuery } from "./memory-query.js";
import type { MemoryOutcome, MemoryStore } from "./memory-store.js";

const defaultListLimit = 100;

const migrations = [
	`CREATE TABLE memory_entries (
		id INTEGER PRIMARY KEY AUTOINCREMENT,
		agent TEXT NOT NULL,
		namespace TEXT NOT NULL,
		has_namespace INTEGER NOT NULL,
		key TEXT NOT NULL,
		content TEXT NOT NULL,
		at TEXT NOT NULL,
		category TEXT,
		session TEXT,
		importance REAL,
		metadata TEXT,
		UNIQUE (agent, has_namespace, namespace, key)
	) STRICT;
	CREATE INDEX memory_newest ON memory_entries (agent, id);
	CREATE VIRTUAL TABLE memory_text USING fts5 (
		content, content = 'memory_entries', content_rowid = 'id', tokenize = 'porter unicode61'
	);
	CREATE TRIGGER memory_added AFTER INSERT ON memory_entries BEGIN
		INSERT INTO memory_text (rowid, content) VALUES (new.id, new.content);
	END;
	CREATE TRIGGER memory_removed AFTER DELETE ON memory_entries BEGIN
		INSERT INTO memory_text (memory_text, rowid, content) VALUES ('delete', old.id, old.content);
	END;`,
];

type Row = {
	readonly key: string;
	readonly namespace: string;
	readonly has_namespace: number;
	readonly content: string;
	readonly at: string;
	readonly category: string | null;
	readonly session: string | null;
	readonly importance: number | null;
	readonly metadata: string | null;
	readonly rank?: number;
};

/**
 * The native memory store `sqlite`: full-text search (FTS5, Porter stems, diacritics folded) over one table. The caller
 * owns the database. A query matches entries that hold any of its words; `score` is the match (bm25) relative to the
 * best of the answer, which is 1. A query that no word matches, such as part of a text without spaces, is looked for as
 * it stands. Every operation is supported, with every filter.
 *
 * @param options.clock the time in milliseconds; the system's clock unless given
 */
export function createSqliteMemory(database: Database, options: { clock?: () => number } = {}): MemoryStore {
	migrate(database, "memory", migrations);
	const clock = options.clock ?? Date.now;
	const columns =
		"e.key, e.namespace, e.has_namespace, e.content, e.at, e.category, e.session, e.importance, e.metadata";
	const byKey = "agent = ? AND has_namespace = ? AND namespace = ? AND key = ?";
	const remove = database.prepare(`DELETE FROM memory_entries WHERE ${byKey}`);
	const add = database.prepare(
		`INSERT INTO memory_entries (agent, has_namespace, namespace, key, content, at, category, session, importance, metadata)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
	);
	// replaced means newest, so the old row goes
	const replace = database.transaction((place: readonly unknown[], values: readonly unknown[]) => {
		remove.run(...place);
		add.run(...place, ...values);
	});

	const newest = (
		filters: Filters,
		limit: number,
		offset: number,
		also = "",
		extra: readonly unknown[] = [],
	): Row[] => {
		const { where, values } = filterWords(filters);
		return database
			.prepare<unknown[], Row>(
				`SELECT ${columns} FROM memory_entries e WHERE ${where}${also} ORDER BY e.id DESC LIMIT ? OFFSET ?`,
			)
			.all(...values, ...extra, limit, offset);
	};
	const matching = (filters: Filters, query: string, limit: number): Row[] => {
		const { where, values } = filterWords(filters);
		return database
			.prepare<unknown[], Row>(
				`SELECT ${columns}, bm25(memory_text) AS rank FROM memory_text JOIN memory_entries e ON e.id = memory_text.rowid
				WHERE memory_text MATCH ? AND ${where} ORDER BY rank, e.id DESC LIMIT ?`,
			)
			.all(query, ...values, limit);
	};

	return {
		name: "sqlite",
		store: (input) =>
			attempt(() => {
				const key = input.key ?? randomUUID();
				const place = placeOf(input.agent, input.namespace, key);
				replace(place, [
					input.content,
					new Date(clock()).toISOString(),
					input.category ?? null,
					input.session ?? null,
					input.importance ?? null,
					input.metadata === undefined ? null : JSON.stringify(input.metadata),
				]);
				return { key };
			}),
		recall: (input) =>
			attempt(() => {
				const asked = input.query.trim();
				if (asked === "" || asked === "*") {
					return { entries: newest(input, input.limit, 0).map((row) => ({ ...entryOf(row), score: 1 })) };
				}
				const query = ftsQuery(asked);
				const rows = query === undefined ? [] : matching(input, query, input.limit);
				if (rows.length > 0) return { entries: scored(rows) };
				const found = newest(input, input.limit, 0, " AND instr(lower(e.content), lower(?)) > 0", [asked]);
				return { entries: found.map((row) => ({ ...entryOf(row), score: 1 })) };
			}),
		get: (input) =>
			attempt(() => {
				const row = database
					.prepare<unknown[], Row>(`SELECT ${columns} FROM memory_entries e WHERE ${byKey}`)
					.get(...placeOf(input.agent, input.namespace, input.key));
				return row === undefined ? {} : { entry: entryOf(row) };
			}),
		list: (input) =>
			attempt(() => ({
				entries: newest(input, input.limit ?? defaultListLimit, input.offset ?? 0).map(entryOf),
			})),
		forget: (input) =>
			attempt(() => ({ forgotten: remove.run(...placeOf(input.agent, input.namespace, input.key)).changes > 0 })),
		count: (input) =>
			attempt(() => {
				const { where, values } = filterWords(input);
				const row = database
					.prepare<unknown[], { count: number }>(`SELECT count(*) AS count FROM memory_entries e WHERE ${where}`)
					.get(...values);
				return { count: row?.count ?? 0 };
			}),
		health: () =>
			attempt(() => {
				database.prepare("SELECT 1 FROM memory_entries LIMIT 1").get();
				return { ok: true };
			}),
	};
}

async function attempt<Output>(work: () => Output): Promise<MemoryOutcome<Output>> {
	try {
		return { ok: true, output: work() };
	} catch (error) {
		const detail = error instanceof Error ? error.message : String(error);
		return { ok: false, error: errorReport("memory.store_failed", { store: "sqlite", detail }) };
	}
}

// "" is a namespace of its own, and not the same as none
function placeOf(agent: string, namespace: string | undefined, key: string): readonly unknown[] {
	return [agent, namespace === undefined ? 0 : 1, namespace ?? "", key];
}

// bm25 is below zero, and lower is better
function scored(rows: readonly Row[]): (Entry & { score: number })[] {
	const best = Math.min(...rows.map((row) => row.rank ?? 0));
	return rows.map((row) => {
		const score = best < 0 ? (row.rank ?? 0) / best : 1;
		return { ...entryOf(row), score: Math.min(1, Math.max(0, score)) };
	});
}

function entryOf(row: Row): Entry {
	return {
		key: row.key,
		content: row.content,
		at: row.at,
		...(row.category === null ? {} : { category: row.category }),
		...(row.session === null ? {} : { session: row.session }),
		...(row.has_namespace === 0 ? {} : { namespace: row.namespace }),
		...(row.importance === null ? {} : { importance: row.importance }),
		...(row.metadata === null ? {} : { metadata: JSON.parse(row.metadata) as JsonObject }),
	};
}
