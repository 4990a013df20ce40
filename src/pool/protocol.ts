import type { MessagePort } from "node:worker_threads";
import type { HostFunction, HostResult, JsonObject, ToolCallOutput } from "@mortise/sdk/contract";
import type {
	CallOutcome,
	ErrorReport,
	GateAnswer,
	GateQuestion,
	PlannedTool,
	PluginCode,
	ProbedProfile,
	TurnEvent,
	TurnOutcome,
	TurnPlan,
} from "../contract/index.js";
import type { BundleCode } from "../engine/index.js";

/** What a plugin must be before it is admitted: read from its manifest, tried in a worker. */
export type ProbeSpec = BundleCode;

/** What a worker is given. Plain data, and two ports that belong to the job. */
export type Job =
	| { readonly kind: "turn"; readonly plan: TurnPlan }
	| {
			readonly kind: "call";
			/** The id the plugin is told. */
			readonly call: string;
			readonly bundle: string;
			readonly op: string;
			readonly input: unknown;
			readonly timeoutMs: number;
			readonly agent?: string;
			readonly config?: JsonObject;
	  }
	| { readonly kind: "probe"; readonly spec: ProbeSpec }
	| { readonly kind: "prepare"; readonly spec: ProbeSpec }
	| { readonly kind: "canaries" };

/** What a job of each kind answers with. Workers never throw: an outcome is data. */
export type JobResult = {
	readonly turn: TurnOutcome;
	readonly call: CallOutcome;
	readonly probe: { readonly ok: true } | { readonly ok: false; readonly error: ErrorReport };
	readonly prepare:
		| { readonly ok: true; readonly body: PluginCode["body"] }
		| { readonly ok: false; readonly error: ErrorReport };
	readonly canaries: readonly ProbedProfile[];
};

/** A job as it crosses: `port` carries messages both ways; the blocking port serves WebAssembly's waiting imports. */
export type JobMessage = {
	readonly job: Job;
	readonly port: MessagePort;
	readonly blocking: { readonly port: MessagePort; readonly flag: SharedArrayBuffer };
};

/** What a worker asks of the main thread. */
export type Question =
	| { readonly kind: "gate"; readonly question: GateQuestion }
	| { readonly kind: "native"; readonly tool: PlannedTool; readonly call: string; readonly arguments: JsonObject }
	| {
			readonly kind: "host";
			readonly bundle: string;
			readonly name: HostFunction;
			readonly arguments: unknown;
			readonly timeoutMs: number;
	  }
	| { readonly kind: "code"; readonly bundle: string }
	| { readonly kind: "artefact"; readonly call: string; readonly text: string };

/** The main thread's answers. */
export type Reply = {
	readonly gate: GateAnswer;
	readonly native:
		| { readonly ok: true; readonly output: ToolCallOutput }
		| { readonly ok: false; readonly error: ErrorReport };
	readonly host: HostResult;
	readonly code: { readonly ok: true; readonly code: PluginCode } | { readonly ok: false; readonly error: ErrorReport };
	readonly artefact: { readonly id: string };
};

/** Worker → main. */
export type ToMain =
	| { readonly type: "question"; readonly id: number; readonly question: Question }
	| { readonly type: "event"; readonly event: TurnEvent };

/** Worker → main on the blocking port, one at a time, and the answer to it. An answer to a question given up is dropped. */
export type BlockingQuestion = { readonly id: number; readonly question: Extract<Question, { kind: "host" }> };
export type BlockingReply = { readonly id: number; readonly reply: HostResult };

/** Main → worker. */
export type ToWorker =
	| { readonly type: "reply"; readonly id: number; readonly reply: Reply[Question["kind"]] }
	| { readonly type: "cancel"; readonly reason: "cancelled" | "timeout" };

/** What the main thread does for a job. Must not reject: a failure is part of the answer. */
export type JobEdges = {
	readonly gate: (question: GateQuestion) => Promise<GateAnswer>;
	readonly native: (request: Extract<Question, { kind: "native" }>, signal: AbortSignal) => Promise<Reply["native"]>;
	readonly host: (request: Extract<Question, { kind: "host" }>, signal: AbortSignal) => Promise<HostResult>;
	readonly code: (bundle: string) => Promise<Reply["code"]>;
	readonly artefact: (call: string, text: string) => Promise<{ readonly id: string }>;
	readonly event: (event: TurnEvent) => void;
};
