import type { JsonObject } from "../contract/json.js";
import type { Manifest } from "../contract/manifest.js";
import type { ConformanceCase, Opened } from "./case.js";
import { memoryCases } from "./memory-cases.js";
import { providerCases } from "./provider-cases.js";
import { stateCases } from "./state-cases.js";
import { toolCases } from "./tool-cases.js";

/** What the suite can test. */
export type ConformanceKind = "tool" | "provider" | "memory" | "state";

/** What the suite cannot know by itself. */
export type ConformanceOptions = {
	/** Good arguments by tool, where its schema does not tell them (an address that is reachable, say). */
	readonly samples?: { readonly [tool: string]: JsonObject };
	/** The model to ask, where the manifest lists none. */
	readonly model?: string;
	/** Parts this run's agents from an earlier run's in a store that lasts; the start time when absent. */
	readonly run?: string;
};

/** What became of one case. */
export type ConformanceOutcome = {
	readonly id: string;
	readonly title: string;
	readonly outcome: "passed" | "skipped" | "failed";
	/** Why it was skipped or failed. */
	readonly reason?: string;
};

/**
 * The contract's promises for one kind, as cases to run against any opened plugin. Cases that the manifest's declared
 * features rule out carry the reason in `skip`.
 * @example for (const { title, skip, run } of conformance("tool", manifest)) it.skipIf(skip)(title, () => run(opened));
 */
export function conformance(
	kind: ConformanceKind,
	manifest: Manifest,
	options: ConformanceOptions = {},
): readonly ConformanceCase[] {
	switch (kind) {
		case "tool":
			return toolCases(manifest, options.samples);
		case "provider":
			return providerCases(manifest, options.model);
		case "memory":
			return memoryCases(manifest, options.run ?? Date.now().toString(36));
		case "state":
			return stateCases(manifest);
		default:
			return kind satisfies never;
	}
}

/** The kinds a manifest provides and the suite can test. */
export function conformanceKinds({ provides }: Manifest): readonly ConformanceKind[] {
	const some = (list: readonly unknown[] | undefined) => list !== undefined && list.length > 0;
	const kinds: readonly (readonly [ConformanceKind, boolean])[] = [
		["tool", some(provides.tools)],
		["provider", some(provides.providers)],
		["memory", some(provides.memory)],
		["state", some(provides.state_targets)],
	];
	return kinds.flatMap(([kind, provided]) => (provided ? [kind] : []));
}

/** Runs cases one after another. Never rejects: a case that does not hold is an outcome. */
export async function runConformance(
	cases: readonly ConformanceCase[],
	opened: Opened,
): Promise<readonly ConformanceOutcome[]> {
	const outcomes: ConformanceOutcome[] = [];
	for (const { id, title, skip, run } of cases) {
		if (skip !== undefined) {
			outcomes.push({ id, title, outcome: "skipped", reason: skip });
			continue;
		}
		try {
			await run(opened);
			outcomes.push({ id, title, outcome: "passed" });
		} catch (error) {
			outcomes.push({ id, title, outcome: "failed", reason: error instanceof Error ? error.message : String(error) });
		}
	}
	return outcomes;
}
