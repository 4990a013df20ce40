import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Database, openDatabase } from "../database.js";
import { HostError } from "../errors.js";
import { makeFolder } from "../make-folder.js";

/** The places under `--home`. Absolute paths. */
export type Home = {
	readonly folder: string;
	readonly bundles: string;
	readonly database: string;
	readonly cache: string;
	readonly logs: string;
	readonly secrets: string;
	readonly controlSocket: string;
	/** The workspace of an agent that names none; `key` is the agent's key. */
	readonly workspace: (key: string) => string;
	/** Where the state of an agent without a repository goes when it names no path. */
	readonly stateFolder: (key: string) => string;
};

/**
 * Makes the home folder with what is in it, readable by its owner only.
 *
 * @param drop the drop folder, when the configuration names another; absolute
 * @throws HostError `home.unusable`
 */
export async function openHome(folder: string, drop?: string): Promise<Home> {
	const home = homeAt(folder, drop);
	try {
		for (const each of [home.folder, home.cache, home.logs]) await makeFolder(each, 0o700);
		await makeFolder(home.bundles, 0o755);
	} catch (error) {
		throw new HostError(
			"home.unusable",
			{ folder, detail: error instanceof Error ? error.message : String(error) },
			{ cause: error },
		);
	}
	return home;
}

/** The places under a home folder, without touching the disk. */
export function homeAt(folder: string, drop?: string): Home {
	return {
		folder,
		bundles: drop ?? join(folder, "bundles"),
		database: join(folder, "state.db"),
		cache: join(folder, "cache"),
		logs: join(folder, "logs"),
		secrets: join(folder, "secrets.json"),
		controlSocket: join(folder, "control.sock"),
		workspace: (key) => join(folder, "workspaces", folderName(key)),
		stateFolder: (key) => join(folder, "agents", folderName(key)),
	};
}

/** A key as a folder name: itself when it is plain, else its digest. */
function folderName(key: string): string {
	return /^[a-z0-9][a-z0-9_-]{0,63}$/.test(key) ? key : createHash("sha256").update(key).digest("hex").slice(0, 32);
}

/** Opens the database of a home. @throws HostError `home.database_unusable` */
export function openHomeDatabase(home: Home): Database {
	try {
		return openDatabase(home.database);
	} catch (error) {
		const detail = error instanceof Error ? error.message : String(error);
		throw new HostError("home.database_unusable", { file: home.database, detail }, { cause: error });
	}
}
