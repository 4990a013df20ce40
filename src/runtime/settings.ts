import { isAbsolute, resolve } from "node:path";
import { createSecretStore, type SecretStore } from "../broker/index.js";
import type { Environment, LoadedConfig } from "../config.js";
import type { Config } from "../contract/index.js";
import { embeddedConfig } from "../embedded-config.js";
import type { Home } from "./home.js";

/** The configuration in force: the operator's, and the embedded default for each section it does not have. */
export type Settings = Config & {
	readonly runtime: { readonly name: string; readonly protocol_versions: readonly string[] };
	readonly agents: NonNullable<Config["agents"]>;
	readonly repositories: NonNullable<Config["repositories"]>;
};

/** Fills in what is absent; what is there, empty too, stays as it is. */
export function settingsOf(config: Config): Settings {
	return {
		...config,
		runtime: {
			name: config.runtime?.name ?? embeddedConfig.runtime.name,
			protocol_versions: config.runtime?.protocol_versions ?? embeddedConfig.runtime.protocol_versions,
		},
		agents: config.agents ?? embeddedConfig.agents,
		repositories: { ...embeddedConfig.repositories, ...config.repositories },
	};
}

/** The drop folder when the configuration names one; absolute. */
export function dropFolder(loaded: LoadedConfig): string | undefined {
	const drop = loaded.config.bundles?.drop;
	if (drop === undefined) return undefined;
	return isAbsolute(drop) ? drop : resolve(loaded.home, drop);
}

/** The operator's secrets, from where the configuration says. */
export function openSecretStore(loaded: LoadedConfig, home: Home, environment: Environment): SecretStore {
	const { from, file } = loaded.config.secrets ?? {};
	return createSecretStore({
		from,
		env: environment.variables,
		file: file === undefined ? undefined : resolve(loaded.folder, file),
		storePath: home.secrets,
	});
}
