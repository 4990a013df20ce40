import { IsolationProfile } from "@mortise/sdk/contract";

/** How strong a profile is, as published under `x-isolation` (DESIGN section 8). */
export type Strength = "none" | "containment" | "seat-belt" | "language" | "os";

/** The order of profiles, weakest first; equal ranks are equally strong (contract/shapes). */
const rank: Record<IsolationProfile, number> = {
	"in-process": 0,
	"worker-thread": 1,
	"restricted-process": 2,
	"wasm-js": 3,
	wasm: 3,
	"sandbox-process": 4,
	container: 5,
};

/** The profiles, weakest first. */
export const isolationProfiles: readonly IsolationProfile[] = IsolationProfile.options;

/** Negative when `a` is weaker than `b`, zero when equally strong, positive when stronger. */
export function compareIsolation(a: IsolationProfile, b: IsolationProfile): number {
	return rank[a] - rank[b];
}

/**
 * The effective profile of a plugin in a turn: the highest of the floors given (agent, bundle, operator), in the
 * form that fits the plugin's runtime (`wasm` on an ESM bundle means `wasm-js`, and the reverse).
 */
export function effectiveIsolation(
	runtime: "wasm" | "esm",
	floors: readonly (IsolationProfile | undefined)[],
): IsolationProfile {
	const lowest: IsolationProfile = runtime === "wasm" ? "wasm" : "in-process";
	const highest = floors.reduce<IsolationProfile>(
		(best, floor) => (floor !== undefined && compareIsolation(floor, best) > 0 ? floor : best),
		lowest,
	);
	if (highest === "wasm" || highest === "wasm-js") return runtime === "wasm" ? "wasm" : "wasm-js";
	return highest;
}

/** What a probe found out about one profile on this machine. */
export type ProbedProfile = {
	readonly profile: IsolationProfile;
	readonly provided: boolean;
	/** Why it is not provided; absent when it is. */
	readonly reason?: string;
};
