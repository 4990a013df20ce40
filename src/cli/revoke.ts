import { type Context, exitCodes } from "./context.js";
import { openGrants } from "./grants.js";

/** `revoke BUNDLE PERMISSION`: takes it back, also one that the configuration or a shipped default gives. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
	const [bundle = "", permission = ""] = args;
	const { grants } = await openGrants(context, bundle, permission);
	const { word, stillGranted } = grants.revoke(bundle, permission);
	const still = stillGranted.length === 0 ? "" : `\nstill allowed by: ${stillGranted.join(", ")}`;
	context.print({ bundle, permission: word, granted: false, stillGranted }, `revoked ${bundle} ${word}${still}`);
	return exitCodes.ok;
}
