import type { PlannedTool, PolicySettings, SecurityPolicy } from "../contract/index.js";

/** Which tools an agent may have. Absent `allow` = all, empty = none; `deny` always subtracts. */
export type ToolLists = {
	readonly allow?: readonly string[] | undefined;
	readonly deny?: readonly string[] | undefined;
};

/** Resolves an agent's policy from the operator's settings. The result is frozen, lists included (rule R110). */
export function resolvePolicy(settings: PolicySettings | undefined, tools: ToolLists | undefined): SecurityPolicy {
	return Object.freeze({
		autonomy: settings?.autonomy ?? "supervised",
		...(tools?.allow === undefined ? {} : { allow: freezeList(tools.allow) }),
		deny: freezeList(tools?.deny),
		alwaysAsk: freezeList(settings?.always_ask),
		autoApprove: freezeList(settings?.auto_approve),
		...(settings?.workspace === undefined ? {} : { workspace: settings.workspace }),
	});
}

/** Whether the policy lets the agent have a tool of this name at all. */
export function allowsTool(policy: SecurityPolicy, name: string): boolean {
	if (policy.deny.includes(name)) return false;
	return policy.allow === undefined || policy.allow.includes(name);
}

/** The tools the policy leaves (rules R65, R118), in their order. The gate asks again at each call. */
export function filterTools(policy: SecurityPolicy, tools: readonly PlannedTool[]): readonly PlannedTool[] {
	return tools.filter((tool) => allowsTool(policy, tool.name));
}

function freezeList(list: readonly string[] | undefined): readonly string[] {
	return Object.freeze([...(list ?? [])]);
}
