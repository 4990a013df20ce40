import { createGrantStore } from "../broker/index.js";
import { removeBundle } from "../bundle/index.js";
import { HostError } from "../errors.js";
import { dropFolder, dropPluginData, droppedBundles, firstPartyDigests, openHome } from "../runtime/index.js";
import { type Context, exitCodes } from "./context.js";

/** `plugin remove ID`: takes an installed bundle out of the drop folder, with all that was kept for it. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
	const [id = ""] = args;
	const loaded = await context.loadConfig();
	const home = await openHome(loaded.home, dropFolder(loaded));
	const digests = await firstPartyDigests();
	const isDropped = (await droppedBundles(home)).includes(id);
	if (digests.has(id) && !isDropped) throw new HostError("plugin.first_party", { id });
	await removeBundle({ id, home: home.folder, drop: home.bundles });
	// whatever comes under this id next is other content, and gets nothing of what this one had
	createGrantStore({ home: home.folder, config: loaded.config.grants }).forget(id);
	await dropPluginData(home, id);
	context.print({ id, removed: true }, `removed ${id}, with its grants, its key-value data and its log`);
	return exitCodes.ok;
}
