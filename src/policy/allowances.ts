import type { PlannedTool } from "../contract/index.js";

/**
 * What a person allowed for the rest of one session. An allowance belongs to a tool and its owner: a tool of the same
 * name from another bundle has none.
 */
export type SessionAllowances = {
	readonly has: (tool: PlannedTool) => boolean;
	readonly add: (tool: PlannedTool) => void;
};

/** Allowances of one session, in memory: they end with it. */
export function createAllowances(): SessionAllowances {
	const allowed = new Set<string>();
	return {
		has: (tool) => allowed.has(keyOf(tool)),
		add: (tool) => void allowed.add(keyOf(tool)),
	};
}

function keyOf(tool: PlannedTool): string {
	return JSON.stringify([tool.origin, tool.origin === "plugin" ? tool.bundle : "", tool.name]);
}
