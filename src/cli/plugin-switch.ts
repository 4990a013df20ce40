import { setBundleEnabled } from "../bundle/index.js";
import { HostError } from "../errors.js";
import { dropFolder, knownBundles, openHome } from "../runtime/index.js";
import { type Context, exitCodes } from "./context.js";

/** Loads a bundle again, or keeps it from being loaded; it stays where it is. */
export async function setEnabled(context: Context, id: string, enabled: boolean): Promise<number> {
	const loaded = await context.loadConfig();
	const home = await openHome(loaded.home, dropFolder(loaded));
	const known = await knownBundles(home, loaded.config);
	if (!known.includes(id)) throw new HostError("plugin.unknown", { id, known: known.length === 0 ? "none" : known });
	await setBundleEnabled({ home: home.folder, id, enabled });
	context.print({ id, enabled }, `${enabled ? "enabled" : "disabled"} ${id}`);
	return exitCodes.ok;
}
