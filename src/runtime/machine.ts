import { release } from "node:os";
import { join } from "node:path";
import { isolationProfiles, type ProbedProfile } from "../contract/index.js";
import { reportOf } from "../errors.js";
import type { Pool } from "../pool/index.js";
import { openCacheFile } from "./cache-file.js";
import { noEdges } from "./job-edges.js";

/** How long the canaries may take, in milliseconds. */
const canaryTimeoutMs = 20_000;

/**
 * Which isolation profiles this machine enforces, by attacking them in a worker (rule C10). What was found is kept with
 * the versions of host, Node and kernel, and found anew when one of them changes.
 */
export async function probeMachine(options: {
	readonly pool: Pool;
	readonly cache: string;
	readonly engine: string;
	readonly again: boolean;
}): Promise<readonly ProbedProfile[]> {
	const cache = await openCacheFile(join(options.cache, "isolation.json"), isProbed);
	const key = `${options.engine}:${release()}`;
	const known = options.again ? undefined : cache.get(key);
	if (known !== undefined) return known;
	const profiles = await attack(options.pool);
	// a failed run may be the moment's fault: only what was proved is kept
	if (profiles.some((each) => each.provided && each.profile !== "in-process")) {
		cache.set(key, profiles);
		await cache.save();
	}
	return profiles;
}

async function attack(pool: Pool): Promise<readonly ProbedProfile[]> {
	const found = await pool
		.run({ kind: "canaries" }, noEdges, { timeoutMs: canaryTimeoutMs })
		.catch((error: unknown) => failedProbe(reportOf(error).message));
	return found.length === 0 ? failedProbe("the worker gave no answer") : found;
}

/** What is left when the canaries could not be run: nothing was shown, so nothing is claimed but the host's own code. */
function failedProbe(detail: string): readonly ProbedProfile[] {
	return isolationProfiles.map((profile) =>
		profile === "in-process"
			? { profile, provided: true }
			: { profile, provided: false, reason: `the probe failed: ${detail}` },
	);
}

function isProbed(value: unknown): value is readonly ProbedProfile[] {
	return (
		Array.isArray(value) &&
		value.every((each) => typeof each?.profile === "string" && typeof each?.provided === "boolean")
	);
}
