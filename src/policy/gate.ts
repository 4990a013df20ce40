import type { JsonObject, ToolCall } from "@mortise/sdk/contract";
import type { AuditRecord, GateAnswer, PlannedTool, SecurityPolicy } from "../contract/index.js";
import { escapeText } from "../errors.js";
import type { SessionAllowances } from "./allowances.js";
import { allowsTool } from "./policy.js";

/** What a person is asked. `arguments` are the ones the call will run with, frozen. */
export type ApprovalQuestion = {
	readonly agent: string;
	readonly session: string;
	readonly turn: string;
	readonly call: string;
	readonly tool: PlannedTool;
	readonly arguments: JsonObject;
};
/** `allow-always` lasts for the session, and not for a tool that is always asked for. */
export type ApprovalAnswer = "allow" | "deny" | "allow-always";
/**
 * Asks a person. It may reject, which denies the call. It gets the turn's signal and has to end when that fires.
 * The answer must come from a person, never from text of a model, a tool or a plugin.
 */
export type Approver = (question: ApprovalQuestion, signal: AbortSignal) => Promise<ApprovalAnswer>;

export type GateInput = {
	readonly policy: SecurityPolicy;
	/** The tool as the host knows it under the call's name; undefined when it knows none. */
	readonly tool: PlannedTool | undefined;
	readonly call: ToolCall;
	/** Says what is wrong with the arguments; [] when nothing is. */
	readonly schemaCheck: (tool: PlannedTool, value: JsonObject) => readonly string[];
	readonly agent: string;
	readonly session: string;
	readonly turn: string;
	readonly allowances: SessionAllowances;
	/** Absent when there is nobody to ask. */
	readonly approver?: Approver;
	readonly signal?: AbortSignal;
	/** The time in milliseconds; the system's clock unless given. */
	readonly clock?: () => number;
};

/** The answer for the worker and the record for the audit log: exactly one of each for a call. */
export type GateDecision = GateAnswer & { readonly record: AuditRecord };

/** Rules a decision can name. */
export type GateRule =
	| "unknown-tool"
	| "tool-not-allowed"
	| "arguments"
	| "read-only"
	| "full"
	| "native-read"
	| "auto-approve"
	| "session-allowance"
	| "approved"
	| "denied"
	| "no-approver"
	| "approver-failed"
	| "cancelled"
	| "gate-failed";

type Ruling =
	| { readonly allowed: true; readonly rule: GateRule; readonly by: AuditRecord["by"]; readonly arguments: JsonObject }
	| { readonly allowed: false; readonly rule: GateRule; readonly by: AuditRecord["by"]; readonly reason: string };

/**
 * Decides one tool call (DESIGN section 9; rules R111, R112). Never throws: whatever breaks on the way denies.
 *
 * In this order: the tool is known and the policy allows it · a top-level `approved` is taken out of the arguments,
 * always, so no tool can be handed an approval by the model · the arguments fit the tool's schema · autonomy `full`
 * allows · `read-only` refuses acts · `always_ask` asks · under `read-only` a native reading tool runs ·
 * `auto_approve` allows · an allowance of this session allows · otherwise a person is asked, and with nobody to ask
 * the call is denied.
 *
 * Under `read-only` a tool is an act unless its effects are exactly `read`. For a bundle's tool that is its own word, so
 * it only opens the way to the operator's `auto_approve` or a person, and never runs on it alone.
 */
export async function decide(input: GateInput): Promise<GateDecision> {
	let ruling: Ruling;
	try {
		ruling = await rule(input);
	} catch {
		ruling = refuse("gate-failed", "the call could not be judged, so it does not run");
	}
	const record = recordOf(input, ruling);
	return ruling.allowed
		? { allowed: true, rule: ruling.rule, arguments: ruling.arguments, record }
		: { allowed: false, rule: ruling.rule, reason: ruling.reason, record };
}

async function rule(input: GateInput): Promise<Ruling> {
	const { policy, tool, call } = input;
	if (tool === undefined || tool.name !== call.name) return refuse("unknown-tool", "there is no such tool");
	if (!allowsTool(policy, tool.name)) return refuse("tool-not-allowed", "the agent's policy does not allow this tool");

	// a copy of our own: what is judged and shown to a person is what runs
	const cleaned = freezeDeep(withoutApproval(structuredClone(call.arguments)));
	const problems = input.schemaCheck(tool, cleaned);
	if (problems.length > 0) return refuse("arguments", `the arguments do not fit the tool: ${problems.join("; ")}`);
	const allow = (name: GateRule): Ruling => ({ allowed: true, rule: name, by: "policy", arguments: cleaned });

	if (policy.autonomy === "full") return allow("full");
	const readOnly = policy.autonomy === "read-only";
	if (readOnly && isAct(tool)) return refuse("read-only", "the agent is read-only and this tool can change something");
	if (policy.alwaysAsk.includes(tool.name)) return ask({ input, tool, cleaned, always: true });
	if (readOnly && tool.origin === "native") return allow("native-read");
	if (policy.autoApprove.includes(tool.name)) return allow("auto-approve");
	if (input.allowances.has(tool)) return allow("session-allowance");
	return ask({ input, tool, cleaned, always: false });
}

type Asking = {
	readonly input: GateInput;
	readonly tool: PlannedTool;
	readonly cleaned: JsonObject;
	readonly always: boolean;
};

async function ask({ input, tool, cleaned, always }: Asking): Promise<Ruling> {
	const { approver, agent, session, turn, call } = input;
	if (approver === undefined)
		return refuse("no-approver", "this tool needs a person's approval and no person was there to decide", "nobody");
	const signal = input.signal ?? new AbortController().signal;
	const cancelled = refuse("cancelled", "the turn was cancelled before a person decided", "nobody");
	if (signal.aborted) return cancelled;
	let answer: ApprovalAnswer;
	try {
		answer = await untilAborted(
			approver({ agent, session, turn, call: call.id, tool, arguments: cleaned }, signal),
			signal,
		);
	} catch {
		if (signal.aborted) return cancelled;
		return refuse("approver-failed", "a person could not be asked, so no person decided", "nobody");
	}
	switch (answer) {
		case "allow-always":
			if (!always) input.allowances.add(tool);
			return { allowed: true, rule: "approved", by: "person", arguments: cleaned };
		case "allow":
			return { allowed: true, rule: "approved", by: "person", arguments: cleaned };
		case "deny":
			return refuse("denied", "a person decided against this call", "person");
		default:
			answer satisfies never;
			return refuse("approver-failed", "the answer was none that is known, so no person decided", "nobody");
	}
}

function isAct(tool: PlannedTool): boolean {
	return tool.effects.length === 0 || tool.effects.some((effect) => effect !== "read");
}

function withoutApproval(value: JsonObject): JsonObject {
	const { approved: _approved, ...rest } = value;
	return rest;
}

function refuse(name: GateRule, reason: string, by: AuditRecord["by"] = "policy"): Ruling {
	return { allowed: false, rule: name, by, reason };
}

function recordOf(input: GateInput, ruling: Ruling): AuditRecord {
	const { tool, call } = input;
	const known = tool !== undefined && tool.name === call.name ? tool : undefined;
	return {
		at: new Date((input.clock ?? Date.now)()).toISOString(),
		agent: input.agent,
		session: input.session,
		turn: input.turn,
		// both may be a model's text
		call: escapeText(call.id).slice(0, 128),
		tool: escapeText(call.name).slice(0, 64),
		origin: known?.origin ?? "unknown",
		...(known?.origin === "plugin" ? { bundle: known.bundle } : {}),
		decision: ruling.allowed ? "allow" : "deny",
		rule: ruling.rule,
		by: ruling.by,
	};
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
	return new Promise((resolve, reject) => {
		const stop = (): void => reject(signal.reason);
		// asking may itself have cancelled the turn
		if (signal.aborted) stop();
		signal.addEventListener("abort", stop, { once: true });
		promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
	});
}

function freezeDeep<T>(value: T): T {
	if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
	Object.freeze(value);
	for (const member of Object.values(value)) freezeDeep(member);
	return value;
}
