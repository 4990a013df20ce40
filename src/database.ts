import Sqlite from "better-sqlite3";

/** An open SQLite database. The only importer of the driver is this file. */
export type Database = Sqlite.Database;

/**
 * Opens (or makes) a database in WAL mode with foreign keys on and a busy wait of 5 s. `":memory:"` keeps it in memory.
 *
 * @param migrations statements, applied once each in order; the count applied is kept in `user_version` per `room`
 */
export function openDatabase(path: string): Database {
	const database = new Sqlite(path, { timeout: 5000 });
	database.pragma("journal_mode = WAL");
	database.pragma("synchronous = FULL");
	database.pragma("foreign_keys = ON");
	database.exec("CREATE TABLE IF NOT EXISTS migrations (room TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT");
	return database;
}

/** A lock between processes. It ends with the process that holds it. */
export type Lock = {
	/** Runs the work while no other process holds the lock; waits up to ten seconds for it. @throws the driver's error */
	readonly hold: <T>(work: () => T) => T;
	readonly close: () => void;
};

/**
 * Opens a lock. `path` is a small database of its own, made when it is missing; nothing is ever written into it.
 *
 * @throws the driver's error
 */
export function openLock(path: string): Lock {
	const database = new Sqlite(path, { timeout: 10_000 });
	return {
		hold: (work) => {
			database.exec("BEGIN EXCLUSIVE");
			try {
				return work();
			} finally {
				database.exec("ROLLBACK");
			}
		},
		close: () => void database.close(),
	};
}

/** Holds a lock until the returned function is called: for work that waits. As `openLock`. @throws the driver's error */
export function holdLock(path: string): () => void {
	const database = new Sqlite(path, { timeout: 10_000 });
	try {
		database.exec("BEGIN EXCLUSIVE");
	} catch (error) {
		database.close();
		throw error;
	}
	return () => void database.close();
}

/** Applies a room's migrations, each once, in order, in one transaction. */
export function migrate(database: Database, room: string, migrations: readonly string[]): void {
	database.transaction(() => {
		const row = database
			.prepare<[string], { version: number }>("SELECT version FROM migrations WHERE room = ?")
			.get(room);
		const version = row?.version ?? 0;
		for (const statement of migrations.slice(version)) database.exec(statement);
		database
			.prepare(
				"INSERT INTO migrations (room, version) VALUES (?, ?) ON CONFLICT (room) DO UPDATE SET version = excluded.version",
			)
			.run(room, Math.max(version, migrations.length));
	})();
}
