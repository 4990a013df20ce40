import type { Message } from "@mortise/sdk/contract";
import { uuidv7 } from "uuidv7";
import { type Database, migrate } from "../database.js";
import { HostError } from "../errors.js";

/** A session as it is listed. Times are ISO 8601 UTC; `turns` counts those that were kept. */
export type SessionRow = {
	readonly id: string;
	readonly agent: string;
	readonly turns: number;
	readonly createdAt: string;
	readonly updatedAt: string;
};

/** Sessions and their messages. A session belongs to one agent for good. */
export type History = {
	/** A new id for a session or a turn: a UUIDv7, so ids sort by time. */
	readonly newId: () => string;
	/** What a session holds; undefined when there is none of that id. Throws `session.bad_id`. */
	readonly load: (
		session: string,
	) => { readonly agent: string; readonly turns: number; readonly messages: readonly Message[] } | undefined;
	/** Throws `session.bad_id`, and `session.other_agent` when the session is another agent's. */
	readonly check: (session: string, agent: string) => void;
	/** Adds a turn's messages, all or none; makes the session when it is new. Throws as `check` does. */
	readonly append: (turn: {
		readonly session: string;
		readonly agent: string;
		readonly turn: string;
		readonly messages: readonly Message[];
	}) => void;
	/** Every session, the last used first. */
	readonly sessions: () => readonly SessionRow[];
};

const migrations = [
	`CREATE TABLE sessions (
		id TEXT PRIMARY KEY, agent TEXT NOT NULL, turns INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
	) STRICT;
	CREATE TABLE messages (
		session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
		number INTEGER NOT NULL, turn TEXT NOT NULL, message TEXT NOT NULL,
		PRIMARY KEY (session, number)
	) STRICT, WITHOUT ROWID;`,
];

/** Keeps sessions in a database, which the caller closes. Clock and ids are parameters. */
export function createHistory(
	database: Database,
	options: { readonly now?: () => number; readonly newId?: () => string } = {},
): History {
	const { now = Date.now, newId = uuidv7 } = options;
	migrate(database, "sessions", migrations);
	const find = database.prepare<[string], { agent: string; turns: number }>(
		"SELECT agent, turns FROM sessions WHERE id = ?",
	);
	const read = database.prepare<[string], { message: string }>(
		"SELECT message FROM messages WHERE session = ? ORDER BY number",
	);
	const last = database.prepare<[string], { number: number }>(
		"SELECT coalesce(max(number), 0) AS number FROM messages WHERE session = ?",
	);
	const touch = database.prepare(
		`INSERT INTO sessions (id, agent, turns, created_at, updated_at) VALUES (@session, @agent, 1, @at, @at)
		ON CONFLICT (id) DO UPDATE SET turns = turns + 1, updated_at = excluded.updated_at`,
	);
	const insert = database.prepare("INSERT INTO messages (session, number, turn, message) VALUES (?, ?, ?, ?)");
	const list = database.prepare<[], SessionRow>(
		`SELECT id, agent, turns, created_at AS createdAt, updated_at AS updatedAt
		FROM sessions ORDER BY updated_at DESC, id DESC`,
	);
	const check = (session: string, agent: string): void => {
		checkId(session);
		const owner = find.get(session)?.agent;
		if (owner !== undefined && owner !== agent) throw new HostError("session.other_agent", { session, owner, agent });
	};
	const append = database.transaction((turn: Parameters<History["append"]>[0]) => {
		const { session, agent } = turn;
		check(session, agent);
		touch.run({ session, agent, at: new Date(now()).toISOString() });
		const start = last.get(session)?.number ?? 0;
		for (const [index, message] of turn.messages.entries()) {
			insert.run(session, start + index + 1, turn.turn, JSON.stringify(message));
		}
	});
	return {
		newId,
		check,
		load: (session) => {
			checkId(session);
			const row = find.get(session);
			if (row === undefined) return undefined;
			// only `append` writes here, so the messages are ours
			return { ...row, messages: read.all(session).map((each) => JSON.parse(each.message) as Message) };
		},
		// the write lock is taken before the owner is read, so two hosts cannot both make one session theirs
		append: (turn) => append.immediate(turn),
		sessions: () => list.all(),
	};
}

function checkId(session: string): void {
	if (!/^[A-Za-z0-9._:-]{1,128}$/.test(session)) throw new HostError("session.bad_id", { session });
}
