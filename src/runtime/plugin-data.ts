import { rm } from "node:fs/promises";
import { join } from "node:path";
import { createKv } from "../broker/index.js";
import { type Home, openHomeDatabase } from "./home.js";

/** Drops what a home keeps for a bundle beside its files: its key-value spaces and its log. @throws HostError `home.database_unusable` */
export async function dropPluginData(home: Home, id: string): Promise<void> {
	const database = openHomeDatabase(home);
	try {
		createKv(database).drop(id);
	} finally {
		database.close();
	}
	for (const name of [`${id}.log`, `${id}.log.1`]) await rm(join(home.logs, name), { force: true });
}
