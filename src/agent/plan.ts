import { type Message, type Part, text } from "@mortise/sdk/contract";
import type { PlannedTool, TurnPlan } from "../contract/index.js";
import { HostError } from "../errors.js";
import type { AdmittedProvider } from "./admit.js";
import type { AgentSpec } from "./spec.js";

/** How much of the past a turn is given, in bytes of JSON. */
export const maxHistoryBytes = 256 * 1024;
/** How much of one tool result a model is shown, in bytes of UTF-8. */
export const toolOutputBytes = 32 * 1024;

export type PlanRequest = {
	readonly spec: AgentSpec;
	readonly provider: AdmittedProvider;
	/** The registry's winners that the agent's policy lets through. */
	readonly tools: readonly PlannedTool[];
	readonly history: readonly Message[];
	/** Turns the session has had. */
	readonly pastTurns?: number;
	readonly message: string;
	readonly turn: string;
	readonly session: string;
	readonly maxHistoryBytes?: number;
	readonly toolOutputBytes?: number;
	readonly parallelTools?: boolean;
	/** Whether somebody watches the answers grow; no, unless given. */
	readonly stream?: boolean;
};

/**
 * Everything a worker needs to run a turn, as plain data. The instructions come first, each under a line that says whose
 * they are; then as many of the newest whole turns as fit; then the message.
 *
 * @throws HostError `session.turn_limit` when the session has had its turns
 */
export function planTurn(request: PlanRequest): TurnPlan {
	const { spec, provider, session } = request;
	const { turns } = spec.limits;
	if (turns !== undefined && (request.pastTurns ?? 0) >= turns) {
		throw new HostError("session.turn_limit", { session, turns });
	}
	const { bundle, name, model, config } = provider;
	return {
		turn: request.turn,
		session,
		agent: spec.key,
		provider: { bundle, name, model, config },
		tools: request.tools,
		stream: request.stream === true,
		messages: [
			...systemMessage(spec),
			...trimHistory(request.history, request.maxHistoryBytes ?? maxHistoryBytes),
			{ role: "user", content: text(request.message) },
		],
		limits: {
			iterations: spec.limits.iterations,
			timeoutMs: spec.limits.timeoutMs,
			toolOutputBytes: request.toolOutputBytes ?? toolOutputBytes,
			parallelTools: request.parallelTools ?? true,
		},
	};
}

const heading = {
	operator: "Instructions of the operator:",
	repository: "Instructions from the agent's repository; where they differ, the operator's hold:",
} as const;

function systemMessage(spec: AgentSpec): Message[] {
	const parts = spec.instructions
		.filter(({ text: value }) => value.trim() !== "")
		.map(({ from, text: value }): Part => ({ type: "text", text: `${heading[from]}\n\n${value.trim()}\n` }));
	return parts.length === 0 ? [] : [{ role: "system", content: parts }];
}

/**
 * The newest messages within a bound, cut only before a user's message: a tool call is never parted from its result,
 * nor an answer from its question. Messages before the first user's message are left out.
 */
export function trimHistory(history: readonly Message[], maxBytes: number): readonly Message[] {
	let from = history.length;
	let size = 0;
	for (let index = history.length - 1; index >= 0; index -= 1) {
		const message = history[index];
		if (message === undefined) continue;
		size += Buffer.byteLength(JSON.stringify(message));
		if (size > maxBytes) break;
		if (message.role === "user") from = index;
	}
	return history.slice(from);
}
