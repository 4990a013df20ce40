// Runs in: worker.
import type { ChatInput, EmitEvent, ToolCall } from "@mortise/sdk/contract";
import type {
	CallOutcome,
	GateAnswer,
	GateQuestion,
	PlannedTool,
	ToolReport,
	TurnEvent,
	TurnPlan,
} from "../contract/index.js";
import type { Stop } from "./stop.js";

/** What a turn reaches the world through. No member may reject: a failure is an outcome. One that does anyway is told as the host's fault. */
export type TurnEdges = {
	/**
	 * One `provider.chat`. Its output fits `ChatOutput`: whoever opened the plugin checked it. With `onEmit` the provider
	 * may give pieces of its answer as they come.
	 */
	readonly chat: (
		input: ChatInput,
		signal: AbortSignal,
		onEmit: ((event: EmitEvent) => void) | undefined,
	) => Promise<CallOutcome>;
	/** Asks the main thread whether a call may run; it may wait for a person. */
	readonly gate: (question: GateQuestion) => Promise<GateAnswer>;
	/** Runs a tool with the arguments the gate cleaned. Its output fits `ToolCallOutput`. */
	readonly callTool: (tool: PlannedTool, call: ToolCall, signal: AbortSignal) => Promise<CallOutcome>;
	/** What is wrong with a structured output under the tool's own `output` schema; empty when nothing is. */
	readonly checkOutput?: (tool: PlannedTool, structured: unknown) => readonly string[];
	/** Keeps the whole of an output that was cut and gives its id. */
	readonly keepArtefact: (callId: string, text: string) => Promise<string>;
	/** Must not throw. */
	readonly emit: (event: TurnEvent) => void;
	/** Aborted with the reason `"timeout"` or anything else, which means cancelled. */
	readonly signal: AbortSignal;
	/** Milliseconds of a clock that only goes forward. */
	readonly now?: () => number;
	/** Waits; ends early, without rejecting, when the signal aborts. */
	readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
};

/** What the parts of a turn share. `tools` grows. */
export type RunningTurn = {
	readonly plan: TurnPlan;
	readonly edges: TurnEdges;
	readonly stop: Stop;
	readonly tools: ToolReport[];
};
