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

/**
 * Holds a lock between processes until the returned function is called, or this process ends. `path` is a small database
 * of its own, made when it is missing; nothing is ever written into it. Waits up to ten seconds for another holder.
 *
 * @throws the driver's error when it cannot be had
 */
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
