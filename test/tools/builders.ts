import type { PlannedTool } from "../../src/contract/index.js";

/** A native tool unless `bundle` is given. */
export function aTool(
	name: string,
	more: { bundle?: string; effects?: PlannedTool["effects"]; description?: string } = {},
): PlannedTool {
	const base = {
		name,
		description: more.description ?? "a tool",
		input: { type: "object" },
		effects: more.effects ?? [],
	};
	return more.bundle === undefined ? { ...base, origin: "native" } : { ...base, origin: "plugin", bundle: more.bundle };
}
