import { type Context, exitCodes } from "./context.js";
import { openGrants } from "./grants.js";

/** `grant BUNDLE PERMISSION`: allows a bundle something; it takes effect with what its manifest asks for. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
	const [bundle = "", permission = ""] = args;
	const { grants, to, warning } = await openGrants(context, bundle, permission);
	const word = grants.grant(bundle, permission, to);
	if (warning !== undefined) context.tell(warning);
	context.print({ bundle, permission: word, granted: true }, `granted ${bundle} ${word}`);
	return exitCodes.ok;
}
