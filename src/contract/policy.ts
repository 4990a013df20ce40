import type { Autonomy } from "./config.js";

/**
 * What an agent may do, resolved from the operator's settings and frozen (rule R110). Names are compared exactly.
 * An absent `allow` means every tool, an empty one none; `deny` always subtracts.
 */
export type SecurityPolicy = {
	readonly autonomy: Autonomy;
	readonly allow?: readonly string[];
	readonly deny: readonly string[];
	/** Asked for at each call, whatever was answered before. */
	readonly alwaysAsk: readonly string[];
	readonly autoApprove: readonly string[];
	/** The folder native file tools are confined to. */
	readonly workspace?: string;
};

/** One decision of the gate, as the audit log keeps it. Never holds argument values. */
export type AuditRecord = {
	/** ISO 8601 UTC. */
	readonly at: string;
	readonly agent: string;
	readonly session: string;
	readonly turn: string;
	readonly call: string;
	readonly tool: string;
	/** `native`, `plugin`, or `unknown` for a name that no tool has. */
	readonly origin: string;
	readonly bundle?: string;
	readonly decision: "allow" | "deny";
	readonly rule: string;
	/** Who decided: the policy by itself, a person, or nobody, because there was no person to ask. */
	readonly by: "policy" | "person" | "nobody";
};
