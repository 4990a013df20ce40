import { toolNamePattern } from "@mortise/sdk/contract";
import type { PlannedTool, ToolDrop, ToolHolder } from "../contract/index.js";
import { escapeText } from "../errors.js";
import type { Logger } from "../log.js";

/** A name the host keeps, and the part of the host that keeps it. */
export type ReservedName = { readonly name: string; readonly by: string };
/** The tools one bundle brings, in the order of its manifest. */
export type BundleTools = { readonly bundle: string; readonly tools: readonly PlannedTool[] };
export type AssembleInput = {
	readonly native: readonly PlannedTool[];
	readonly reserved: readonly ReservedName[];
	readonly plugins: readonly BundleTools[];
};
/** One registry: each name once, sorted by name, and what did not get its name, sorted by name and bundle. */
export type Assembled = { readonly tools: readonly PlannedTool[]; readonly drops: readonly ToolDrop[] };
/** Who answers to a name (DESIGN section 11, `why`). `winner` is null where no tool has the name. */
export type Why = {
	readonly name: string;
	readonly winner: { readonly origin: string; readonly bundle?: string } | null;
	readonly losers: readonly { readonly origin: string; readonly bundle?: string; readonly rule: string }[];
};

/** Kept by the host even while MCP is off (rule R74). */
export const alwaysReserved: readonly ReservedName[] = [
	{ name: "mcp_prompts", by: "mcp" },
	{ name: "mcp_resources", by: "mcp" },
];
/** A name no bundle may claim (rule R134). */
const shellName = "shell";

/**
 * Makes one registry of tools from native ones, reserved names and bundles, in this order of precedence (R69, R74,
 * R80). Between bundles the lower id wins, within one list the first (R81); which bundle was loaded first changes
 * nothing. A name is compared exactly, and one that is not a tool name is dropped (R133); `shell` is dropped from any
 * bundle (R134). Every drop is returned (R82). Pure; a tool that is kept is the same object.
 */
export function assemble(input: AssembleInput): Assembled {
	const holders = new Map<string, ToolHolder>();
	const tools: PlannedTool[] = [];
	const drops: ToolDrop[] = [];
	const reserved = new Set([...alwaysReserved, ...input.reserved].map((each) => each.name));

	const offer = (tool: PlannedTool, owner: ToolHolder & { readonly origin: "native" | "plugin" }): void => {
		const kept = refusalOf(tool.name, owner, holders, reserved);
		if (kept === undefined) {
			holders.set(tool.name, owner);
			tools.push(tool);
		} else drops.push({ name: escapeText(tool.name), ...owner, ...kept });
	};

	for (const tool of input.native) offer(tool, { origin: "native" });
	for (const { bundle, tools: brought } of [...input.plugins].sort((a, b) => compare(a.bundle, b.bundle))) {
		for (const tool of brought) offer(ownedBy(tool, bundle), { origin: "plugin", bundle });
	}
	return {
		tools: tools.sort((a, b) => compare(a.name, b.name)),
		drops: drops.sort((a, b) => compare(a.name, b.name) || compare(a.bundle ?? "", b.bundle ?? "")),
	};
}

/** Who answers to a name, and who would have liked to. */
export function why(name: string, assembled: Assembled): Why {
	const winner = assembled.tools.find((tool) => tool.name === name);
	const shown = escapeText(name);
	return {
		name: shown,
		winner: winner === undefined ? null : holderOf(winner),
		losers: assembled.drops
			.filter((drop) => drop.name === shown)
			.map(({ origin, bundle, rule }) => ({ origin, ...(bundle === undefined ? {} : { bundle }), rule })),
	};
}

/** A function that logs one warning for each drop, and no second one when it is given the same drop again (rule R82). */
export function createDropLog(log: Pick<Logger, "warn">): (drops: readonly ToolDrop[]) => void {
	const told = new Set<string>();
	return (drops) => {
		for (const drop of drops) {
			const key = JSON.stringify([drop.name, drop.origin, drop.bundle, drop.keptBy, drop.rule]);
			if (told.has(key)) continue;
			told.add(key);
			const { name: tool, ...fields } = drop;
			log.warn({ tool, ...fields }, "tool dropped: its name is taken");
		}
	};
}

function refusalOf(
	name: string,
	owner: ToolHolder,
	holders: ReadonlyMap<string, ToolHolder>,
	reserved: ReadonlySet<string>,
): { keptBy: ToolHolder; rule: string } | undefined {
	if (!toolNamePattern.test(name)) return { keptBy: { origin: "reserved" }, rule: "R133" };
	if (owner.origin === "plugin" && name === shellName) {
		return { keptBy: holders.get(name) ?? { origin: "reserved" }, rule: "R134" };
	}
	const holder = holders.get(name);
	if (holder !== undefined) {
		const rule = holder.origin === "native" && owner.origin === "plugin" ? "R80" : "R81";
		return { keptBy: holder, rule };
	}
	if (owner.origin === "native" || !reserved.has(name)) return undefined;
	const rule = alwaysReserved.some((each) => each.name === name) ? "R74" : "R80";
	return { keptBy: { origin: "reserved" }, rule };
}

// the group a tool stands in says whose it is, not what the tool says of itself
function ownedBy(tool: PlannedTool, bundle: string): PlannedTool {
	if (tool.origin === "plugin" && tool.bundle === bundle) return tool;
	return { ...tool, origin: "plugin", bundle };
}

function holderOf(tool: PlannedTool): { origin: string; bundle?: string } {
	return tool.origin === "plugin" ? { origin: "plugin", bundle: tool.bundle } : { origin: tool.origin };
}

function compare(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}
