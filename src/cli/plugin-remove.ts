import { removeBundle } from "../bundle/index.js";
import { HostError } from "../errors.js";
import { dropFolder, droppedBundles, firstPartyDigests, openHome } from "../runtime/index.js";
import { type Context, exitCodes } from "./context.js";

/** `plugin remove ID`: takes an installed bundle out of the drop folder, with its receipt. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
	const [id = ""] = args;
	const loaded = await context.loadConfig();
	const home = await openHome(loaded.home, dropFolder(loaded));
	const digests = await firstPartyDigests();
	const isDropped = (await droppedBundles(home)).includes(id);
	if (digests.has(id) && !isDropped) throw new HostError("plugin.first_party", { id });
	await removeBundle({ id, home: home.folder, drop: home.bundles });
	context.print({ id, removed: true }, `removed ${id}`);
	return exitCodes.ok;
}
