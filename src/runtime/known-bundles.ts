import { discoverBundles, readReceipts } from "../bundle/index.js";
import type { Config, VerifiedBundle } from "../contract/index.js";
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

/** The bundle of an id that can be loaded, if there is one; of two none can. */
export async function findBundle(home: Home, config: Config, id: string): Promise<VerifiedBundle | undefined> {
	const firstParty = config.bundles?.first_party === false ? {} : { firstParty: resources.plugins };
	const receipts = await readReceipts(home.folder);
	const { bundles } = await discoverBundles({ drop: home.bundles, receipts, ...firstParty });
	return bundles.find((bundle) => bundle.manifest.id === id);
}

async function idsIn(home: Home, more: { readonly firstParty?: string }): Promise<readonly string[]> {
	const found = await discoverBundles({ drop: home.bundles, receipts: await readReceipts(home.folder), ...more });
	const ids = [
		...found.bundles.map((bundle) => bundle.manifest.id),
		...found.refused.flatMap((refused) => (refused.id === undefined ? [] : [refused.id])),
	];
	return [...new Set(ids)].sort();
}
