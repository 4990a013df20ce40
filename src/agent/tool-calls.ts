// Runs in: worker.
import {
	type JsonObject,
	type Message,
	type Part,
	type ToolCall,
	type ToolCallOutput,
	text,
} from "@mortise/sdk/contract";
import type { CallOutcome, ErrorReport, GateAnswer, PlannedTool, ToolReport } from "../contract/index.js";
import { errorReport, escapeText, reportOf } from "../errors.js";
import { capOutput } from "./output-cap.js";
import type { RunningTurn } from "./running-turn.js";

/** What a tool call came to. */
export type ToolResult = {
	readonly message: Extract<Message, { role: "tool" }>;
	readonly report: ToolReport;
	readonly arguments: JsonObject;
	/** The content before it was cut. */
	readonly whole: readonly Part[];
};

/** A call that may run, or one whose result is already known: no such tool, bad arguments, denied, stopped. */
type Prepared =
	| { readonly kind: "prepared"; readonly call: ToolCall; readonly tool: PlannedTool }
	| { readonly kind: "immediate"; readonly call: ToolCall; readonly finished: Finished };

type Finished = {
	readonly content: readonly Part[];
	readonly ok: boolean;
	readonly owner: string;
	readonly decision: ToolReport["decision"];
	readonly ms: number;
	readonly error?: ErrorReport;
	readonly refused?: readonly string[];
};

/** Calls of one answer that run at the same time. */
export const maxAtOnce = 8;

/**
 * Runs the calls of one model answer: each is prepared in order (found by its exact name, gated), then all run, up to eight at a
 * time when the plan allows and one after the other when not, and each is finalised in the model's order. Every call gets a result for the model and a report, also when
 * the turn is stopped under way. Never rejects.
 */
export async function runToolCalls(turn: RunningTurn, calls: readonly ToolCall[]): Promise<readonly ToolResult[]> {
	const prepared: Prepared[] = [];
	for (const call of calls) {
		turn.edges.emit({ type: "tool-start", call });
		prepared.push(await prepare(turn, call));
	}
	const atOnce = turn.plan.limits.parallelTools ? maxAtOnce : 1;
	const running: Promise<Finished>[] = [];
	for (const [index, each] of prepared.entries()) {
		// a call starts when the one so many places before it has ended, whatever it came to
		const before = running[index - atOnce] ?? Promise.resolve();
		running.push(before.then(() => execute(turn, each)));
	}
	const results: ToolResult[] = [];
	for (const [index, each] of prepared.entries()) {
		const finished = await running[index];
		if (finished !== undefined) results.push(await finalise(turn, each.call, finished));
	}
	return results;
}

async function prepare(turn: RunningTurn, call: ToolCall): Promise<Prepared> {
	const { plan, edges, stop } = turn;
	const immediate = (finished: Finished): Prepared => ({ kind: "immediate", call, finished });
	const tool = plan.tools.find((each) => each.name === call.name);
	if (tool === undefined) {
		// asked too, so that the attempt is on record; whatever the answer, there is nothing to run
		const started = stop.now();
		if (!stop.signal.aborted) await stop.orStopped(gated(turn, call));
		const ms = stop.now() - started;
		const names = plan.tools.map((each) => each.name).join(", ") || "none";
		const error = errorReport("turn.unknown_tool", { tool: call.name });
		const told = `There is no tool named "${escapeText(call.name)}". Tools: ${names}.`;
		return immediate({ content: text(told), ok: false, owner: "none", decision: "deny", ms, error });
	}
	const owner = ownerOf(tool);
	if (!isObject(call.arguments)) {
		const error = errorReport("turn.bad_arguments", { tool: tool.name });
		const told = "The arguments of a tool call must be a JSON object.";
		return immediate({ content: text(told), ok: false, owner, decision: "none", ms: 0, error });
	}
	const started = stop.now();
	const answer = stop.signal.aborted ? undefined : await stop.orStopped(gated(turn, call));
	const ms = stop.now() - started;
	if (answer === undefined) return immediate({ ...stopped(turn, tool), ms });
	if (!answer.allowed) {
		const { rule, reason } = answer;
		edges.emit({ type: "tool-denied", call, rule, reason });
		const error = errorReport("turn.denied", { tool: tool.name, rule, reason });
		return immediate({ content: text(`Denied: ${reason}`), ok: false, owner, decision: "deny", ms, error });
	}
	return { kind: "prepared", tool, call: { ...call, arguments: answer.arguments } };
}

/** A gate that breaks has not allowed anything. */
async function gated(turn: RunningTurn, call: ToolCall): Promise<GateAnswer> {
	try {
		return await turn.edges.gate({ call });
	} catch (error) {
		return { allowed: false, rule: "gate", reason: `the gate did not answer: ${reportOf(error).message}` };
	}
}

async function execute(turn: RunningTurn, prepared: Prepared): Promise<Finished> {
	if (prepared.kind === "immediate") return prepared.finished;
	const { edges, stop } = turn;
	const { tool, call } = prepared;
	const about = { owner: ownerOf(tool), decision: "allow" as const };
	const started = stop.now();
	const spentMs = () => stop.now() - started;
	if (stop.signal.aborted) return { ...stopped(turn, tool), ...about };
	try {
		const outcome = await stop.orStopped(edges.callTool(tool, call, stop.signal));
		if (outcome === undefined) return { ...stopped(turn, tool), ...about, ms: spentMs() };
		const refused = outcome.refused === undefined ? {} : { refused: outcome.refused };
		const result = outcome.ok ? judge(turn, tool, outcome) : failed(outcome.error);
		return { ...about, ...refused, ...result, ms: outcome.ms };
	} catch (error) {
		// an edge that breaks its promise must not leave a rejection without an owner beside the other calls
		return { ...about, ...failed(reportOf(error)), ms: spentMs() };
	}
}

/** Judges an output: content the model reads, also when the tool says it failed; a break when it belies its own schema. */
function judge(
	turn: RunningTurn,
	tool: PlannedTool,
	outcome: Extract<CallOutcome, { ok: true }>,
): Pick<Finished, "content" | "ok" | "error"> {
	// the opener of the plugin checked the output against the operation's schema
	const output = outcome.output as ToolCallOutput;
	if (output.isError === true) return { content: contentOf(output), ok: false };
	const faults = tool.output === undefined ? [] : (turn.edges.checkOutput?.(tool, output.structured ?? null) ?? []);
	if (faults.length === 0) return { content: contentOf(output), ok: true };
	const error = errorReport("turn.output_invalid", { tool: tool.name, detail: faults.join("; ") });
	return failed(error);
}

function contentOf(output: ToolCallOutput): readonly Part[] {
	if (output.content.length > 0) return output.content;
	return text(output.structured === undefined ? "(no output)" : JSON.stringify(output.structured));
}

function failed(error: ErrorReport): Pick<Finished, "content" | "ok" | "error"> {
	return { content: text(`The tool failed (${error.code}): ${error.message}`), ok: false, error };
}

async function finalise(turn: RunningTurn, call: ToolCall, finished: Finished): Promise<ToolResult> {
	const { edges, plan } = turn;
	const content = await capOutput({
		content: finished.content,
		maxBytes: plan.limits.toolOutputBytes,
		keep: async (whole) => {
			try {
				return await turn.stop.orStopped(edges.keepArtefact(call.id, whole));
			} catch {
				// an artefact that cannot be kept is told to the model; the turn goes on
				return undefined;
			}
		},
	});
	const report: ToolReport = {
		name: call.name,
		owner: finished.owner,
		decision: finished.decision,
		ok: finished.ok,
		ms: finished.ms,
		...(finished.error === undefined ? {} : { error: finished.error }),
		...(finished.refused === undefined ? {} : { refused: finished.refused }),
	};
	edges.emit({ type: "tool-end", call, report });
	return {
		report,
		arguments: call.arguments,
		whole: finished.content,
		message: {
			role: "tool",
			callId: call.id,
			name: call.name,
			content: [...content],
			...(finished.ok ? {} : { isError: true }),
		},
	};
}

function stopped(turn: RunningTurn, tool: PlannedTool): Finished {
	const error = turn.stop.report(`the tool ${tool.name}`);
	return { content: text(error.message), ok: false, owner: ownerOf(tool), decision: "none", ms: 0, error };
}

function ownerOf(tool: PlannedTool): string {
	return tool.origin === "native" ? "native" : tool.bundle;
}

function isObject(value: unknown): boolean {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

const maxIdLength = 128;

/**
 * Makes ids of tool calls unique in the conversation: an empty, overlong or repeated one becomes `call_ITERATION_NUMBER`,
 * the same for the same answers.
 */
export function createIdRepair(
	messages: readonly Message[],
): (calls: readonly ToolCall[], iteration: number) => readonly ToolCall[] {
	const used = new Set<string>();
	for (const message of messages) {
		if (message.role === "assistant") for (const call of message.toolCalls ?? []) used.add(call.id);
	}
	return (calls, iteration) =>
		calls.map((call, index) => {
			let id = call.id;
			if (id === "" || id.length > maxIdLength || used.has(id)) id = `call_${iteration}_${index + 1}`;
			while (used.has(id)) id = `${id}_`;
			used.add(id);
			return id === call.id ? call : { ...call, id };
		});
}
