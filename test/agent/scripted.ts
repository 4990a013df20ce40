import { type ChatInput, type ChatOutput, type Message, type Part, type ToolCall, text } from "@mortise/sdk/contract";
import type { TurnEdges } from "../../src/agent/index.js";
import type {
	CallOutcome,
	GateAnswer,
	GateQuestion,
	PlannedTool,
	TurnEvent,
	TurnPlan,
} from "../../src/contract/index.js";
import { errorReport } from "../../src/errors.js";

/** What the scripted provider does when it is asked: an answer, an outcome, or something of the test's own. */
export type Step =
	| Partial<ChatOutput>
	| CallOutcome
	| ((input: ChatInput, signal: AbortSignal) => Promise<CallOutcome>);
export type Tool = (call: ToolCall, signal: AbortSignal) => Promise<CallOutcome> | CallOutcome;

export const done = (output: unknown): CallOutcome => ({ ok: true, output, ms: 1 });
export const says = (value: string): Partial<ChatOutput> => ({ content: text(value) });
export const asks = (...calls: (string | ToolCall)[]): Partial<ChatOutput> => ({
	content: [],
	stop: "tool",
	toolCalls: calls.map((call, index) =>
		typeof call === "string" ? { id: `c${index}`, name: call, arguments: {} } : call,
	),
});
export const answers =
	(value: string): Tool =>
	() =>
		done({ content: text(value) });
export const breaks = (options: { retryable?: boolean; retryAfterMs?: number } = {}): CallOutcome => ({
	ok: false,
	error: errorReport("host.internal", { detail: "scripted" }),
	retryable: options.retryable ?? false,
	ms: 1,
	...(options.retryAfterMs === undefined ? {} : { retryAfterMs: options.retryAfterMs }),
});

export function aTool(name: string, more: Partial<PlannedTool> = {}): PlannedTool {
	// the origin is given with the rest
	return {
		name,
		description: name,
		input: { type: "object" },
		effects: [],
		origin: "plugin",
		bundle: `b.${name}`,
		...more,
	} as PlannedTool;
}

export function aPlan(tools: readonly PlannedTool[], limits: Partial<TurnPlan["limits"]> = {}): TurnPlan {
	return {
		turn: "t1",
		stream: false,
		session: "s1",
		agent: "helper",
		provider: { bundle: "p", name: "scripted", model: "m", config: {} },
		tools,
		messages: [{ role: "user", content: text("hello") }],
		limits: { iterations: 10, timeoutMs: 1000, toolOutputBytes: 1000, parallelTools: true, ...limits },
	};
}

/** The edges of a turn, second implementation: a provider that follows a script, tools that are functions, a clock that stands. */
export function scripted(
	script: readonly Step[],
	tools: Readonly<Record<string, Tool>> = {},
	more: Partial<TurnEdges> & { readonly decide?: (question: GateQuestion) => GateAnswer } = {},
) {
	const events: TurnEvent[] = [];
	const asked: ChatInput[] = [];
	const sleeps: number[] = [];
	const artefacts: string[] = [];
	const aborter = new AbortController();
	const { decide, ...edges } = more;
	let step = 0;
	const all: TurnEdges = {
		chat: async (input, signal) => {
			asked.push(input);
			const next = script[Math.min(step, script.length - 1)] ?? {};
			step += 1;
			if (typeof next === "function") return next(input, signal);
			if ("ok" in next) return next;
			return done({ content: [], toolCalls: [], usage: { input: 10, output: 2 }, stop: "end", ...next });
		},
		gate: async (question) => decide?.(question) ?? { allowed: true, rule: "test", arguments: question.call.arguments },
		callTool: async (tool, call, signal) => {
			const run = tools[tool.name];
			if (run === undefined) throw new Error(`no scripted tool ${tool.name}`);
			return run(call, signal);
		},
		keepArtefact: async (_call, whole) => `a${artefacts.push(whole)}`,
		emit: (event) => events.push(event),
		signal: aborter.signal,
		now: () => 0,
		// the deadline, the only wait of a second or more here, never comes unless a test says so
		sleep: (ms, signal) => {
			if (ms < 1000) {
				sleeps.push(ms);
				return Promise.resolve();
			}
			return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
		},
		...edges,
	};
	return { edges: all, events, asked, sleeps, artefacts, cancel: (reason: unknown) => aborter.abort(reason) };
}

/** The text of a tool's result as the model was shown it. */
export function shown(messages: readonly Message[]): string[] {
	return messages.flatMap((message) =>
		message.role === "tool"
			? [message.content.map((part: Part) => ("text" in part ? part.text : part.type)).join("|")]
			: [],
	);
}
