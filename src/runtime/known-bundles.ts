import { discoverBundles, readReceipts } from "../bundle/index.js";
import type { Config } from "../contract/index.js";
import type { Home } from "./home.js";
import { resources } from "./resources.js";

/** The ids of every bundle that is there, loadable or not, sorted. */
export function knownBundles(home: Home, config: Config): Promise<readonly string[]> {
	return idsIn(home, config.bundles?.first_party === false ? {} : { firstParty: resources.plugins });
}

/** The ids of the bundles in the drop folder alone. */
export function droppedBundles(home: Home): Promise<readonly string[]> {
	return idsIn(home, {});
}

async function idsIn(home: Home, more: { readonly firstParty?: string }): Promise<readonly string[]> {
	const found = await discoverBundles({ drop: home.bundles, receipts: await readReceipts(home.folder), ...more });
	const ids = [
		...found.bundles.map((bundle) => bundle.manifest.id),
		...found.refused.flatMap((refused) => (refused.id === undefined ? [] : [refused.id])),
	];
	return [...new Set(ids)].sort();
}
