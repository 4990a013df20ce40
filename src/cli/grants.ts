import { BundleId } from "@mortise/sdk/contract";
import { createGrantStore, type GrantedBundle, type GrantStore } from "../broker/index.js";
import { escapeText } from "../errors.js";
import { dropFolder, findBundle, firstPartyDigests, knownBundles, openHome } from "../runtime/index.js";
import { type Context, usageError } from "./context.js";

/** The grants of the home folder. `warning` says that no bundle of this id is there (yet); a grant may come first. */
export async function openGrants(
	context: Context,
	bundle: string,
	permission: string,
): Promise<{ readonly grants: GrantStore; readonly to?: GrantedBundle; readonly warning?: string }> {
	if (!BundleId.safeParse(bundle).success) throw usageError(`"${escapeText(bundle)}" is no bundle id`);
	const loaded = await context.loadConfig();
	const home = await openHome(loaded.home, dropFolder(loaded));
	const digests = Object.fromEntries(await firstPartyDigests());
	const grants = createGrantStore({ home: home.folder, config: loaded.config.grants, firstPartyDigests: digests });
	const found = await findBundle(home, loaded.config, bundle);
	if (found !== undefined) return { grants, to: { id: bundle, origin: found.origin, digest: found.digest } };
	const known = await knownBundles(home, loaded.config);
	if (known.includes(bundle)) return { grants };
	return { grants, warning: `no bundle ${bundle} is there; ${permission} will count when one is` };
}
