import type { SecretStore } from "../broker/index.js";
import { dropFolder, openHome, openSecretStore } from "../runtime/index.js";
import type { Context } from "./context.js";

/** The secrets of the configuration and the home folder. */
export async function openSecrets(context: Context): Promise<SecretStore> {
	const loaded = await context.loadConfig();
	const home = await openHome(loaded.home, dropFolder(loaded));
	return openSecretStore(loaded, home, context.environment);
}
