import type { Grant } from "../contract/index.js";

/**
 * What the bundles that ship with Mortise are granted. It holds only for a bundle that came with the distribution and
 * whose digest is the one it shipped with (contract/shapes, "Authority"); `mortise revoke` takes any of it back.
 */
export const firstPartyGrants: { readonly [id: string]: Grant } = {
	offline: {},
	"openai-compatible": { http: ["api.openai.com"], secrets: ["OPENAI_API_KEY"] },
	"text-kit": {},
	"http-fetch": { http: ["*"] },
	"kv-notes": { kv: true },
};

/**
 * The shipped grant of a bundle, or undefined when it has none.
 *
 * @param digests bundle id → digest it shipped with, generated at build
 */
export function firstPartyGrant(
	bundle: { readonly id: string; readonly origin: string; readonly digest: string },
	digests: { readonly [id: string]: string },
): Grant | undefined {
	if (bundle.origin !== "first-party" || !Object.hasOwn(digests, bundle.id)) return undefined;
	if (digests[bundle.id] !== bundle.digest || !Object.hasOwn(firstPartyGrants, bundle.id)) return undefined;
	return firstPartyGrants[bundle.id];
}
