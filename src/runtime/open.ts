import { join, resolve } from "node:path";
import { createHistory } from "../agent/index.js";
import { createBroker, createGrantStore } from "../broker/index.js";
import { deriveDocument } from "../capability/index.js";
import type { Environment, LoadedConfig } from "../config.js";
import { describeProbed } from "../isolation/index.js";
import type { Logger } from "../log.js";
import { openAuditLog } from "../policy/index.js";
import { createPool } from "../pool/index.js";
import { createStateTargets, nativeStateTargets } from "../state/index.js";
import { createDropLog, createSqliteMemory } from "../tools/index.js";
import { createCodeStore } from "./code-store.js";
import { openHome, openHomeDatabase } from "./home.js";
import { loadSet } from "./load.js";
import { probeMachine } from "./machine.js";
import { nativeToolNames } from "./natives.js";
import { registryOf } from "./registry.js";
import { firstPartyDigests, hostVersion, resources } from "./resources.js";
import { Runtime } from "./runtime.js";
import { dropFolder, openSecretStore, settingsOf } from "./settings.js";

export type RuntimeOptions = {
	readonly loaded: LoadedConfig;
	readonly environment: Environment;
	readonly log: Logger;
	/** A bundle that is not installed, loaded besides: a folder or an archive. */
	readonly bundle?: string;
	/** Attacks this machine's isolation anew instead of taking what was found before. */
	readonly probeAgain?: boolean;
};

/**
 * Opens a runtime: home, grants, isolation probes, loaded set, registry, document. Nothing of a plugin runs on this
 * thread. Close it, or its threads keep the process.
 *
 * @throws HostError for a home, database, grants or secrets file that cannot be used; a bad bundle is no error
 */
export async function openRuntime(options: RuntimeOptions): Promise<Runtime> {
	const { loaded, environment, log } = options;
	const settings = settingsOf(loaded.config);
	const home = await openHome(loaded.home, dropFolder(loaded));
	const database = openHomeDatabase(home);
	const pool = createPool({
		...(settings.pool?.threads === undefined ? {} : { threads: settings.pool.threads }),
		...(settings.pool?.concurrency === undefined ? {} : { concurrency: settings.pool.concurrency }),
	});
	try {
		const digests = Object.fromEntries(await firstPartyDigests());
		const engine = `${await hostVersion()}:${process.version}:${process.arch}`;
		const grants = createGrantStore({ home: home.folder, config: settings.grants, firstPartyDigests: digests });
		const secrets = openSecretStore(loaded, home, environment);
		const profiles = await probeMachine({ pool, cache: home.cache, engine, again: options.probeAgain === true });
		const set = await loadSet({
			config: settings,
			home,
			grants,
			pool,
			profiles,
			engine,
			nativeStateTargets,
			...(settings.bundles?.first_party === false ? {} : { firstParty: resources.plugins }),
			...(options.bundle === undefined ? {} : { named: options.bundle }),
		});
		const sqlite = set.nativeMemory.includes("sqlite") ? createSqliteMemory(database) : undefined;
		const registry = registryOf(set, nativeToolNames(set, sqlite));
		createDropLog(log)(registry.drops);
		const document = deriveDocument({
			name: settings.runtime.name,
			protocolVersions: settings.runtime.protocol_versions,
			set,
			tools: registry.tools,
			drops: registry.drops,
			isolation: describeProbed(profiles),
		});
		const control = settings.control_process ?? { socket: home.controlSocket };
		return new Runtime({
			settings,
			folder: loaded.folder,
			home,
			database,
			pool,
			set,
			registry,
			document,
			profiles,
			grants,
			secrets,
			sqlite,
			history: createHistory(database),
			audit: openAuditLog(join(home.logs, "audit.jsonl")),
			broker: createBroker({ database, secrets, log, logsFolder: home.logs }),
			code: createCodeStore(set, pool),
			targets: createStateTargets({
				controlProcess: "socket" in control ? { socket: resolve(loaded.folder, control.socket) } : control,
			}),
		});
	} catch (error) {
		await pool.close();
		database.close();
		throw error;
	}
}
