import type {
	Effect,
	EmitEvent,
	Failure,
	HostFunction,
	JsonObject,
	JsonSchema,
	Message,
	Part,
	ToolCall,
	Usage,
} from "@mortise/sdk/contract";
import type { EffectiveLimits } from "./loaded-set.js";
import type { ErrorReport } from "./problem.js";

/** Where a tool comes from. */
export type ToolOrigin = { readonly origin: "native" } | { readonly origin: "plugin"; readonly bundle: string };

/** A tool as a turn knows it: data only. */
export type PlannedTool = ToolOrigin & {
	readonly name: string;
	readonly description: string;
	/** The JSON Schema its arguments are checked against. */
	readonly input: JsonSchema;
	readonly output?: JsonSchema;
	readonly effects: readonly Effect[];
};

/** What a worker needs to run one plugin: plain data and a compiled module, both of which cross threads. */
export type PluginCode = {
	readonly id: string;
	readonly version: string;
	readonly digest: string;
	/** `wasm`: a prepared (memory-capped) module. `wasm-js`: every `.js`/`.mjs` file of the bundle as text. */
	readonly body:
		| { readonly profile: "wasm"; readonly module: WebAssembly.Module; readonly wasi: boolean }
		| { readonly profile: "wasm-js"; readonly entry: string; readonly sources: { readonly [path: string]: string } };
	/** Tools that are plain Extism exports: tool name → export and what it takes. */
	readonly exports: { readonly [tool: string]: { readonly export: string; readonly input: "text" | "json" } };
	/** Host functions to link; nothing else is. */
	readonly hostFunctions: readonly HostFunction[];
	/**
	 * Asked for by the manifest and not granted: host function → the permission as `grant` takes it (`kv`,
	 * `http:api.acme.test`). A stub stands there that answers `unauthorized` and names the grant command.
	 */
	readonly ungranted: { readonly [name in HostFunction]?: string };
	/** Every permission asked for and not granted, so that a refusal can name the very one a call lacks. */
	readonly missing?: readonly string[];
	readonly limits: EffectiveLimits;
	readonly config: JsonObject;
};

/** Plain data a worker needs to run a turn. */
export type TurnPlan = {
	readonly turn: string;
	readonly session: string;
	readonly agent: string;
	readonly provider: {
		readonly bundle: string;
		readonly name: string;
		readonly model: string;
		readonly config: JsonObject;
	};
	readonly tools: readonly PlannedTool[];
	/** Whether somebody watches the answers grow: the provider streams then. */
	readonly stream: boolean;
	/** System instructions, history and the new user message. */
	readonly messages: readonly Message[];
	readonly limits: TurnLimits;
};

export type TurnLimits = {
	readonly iterations: number;
	readonly timeoutMs: number;
	/** Bytes of one tool result a model is shown; the rest is kept as an artefact. */
	readonly toolOutputBytes: number;
	readonly parallelTools: boolean;
};

/** Asked of the main thread about every tool call, which knows its tools itself (DESIGN section 9). */
export type GateQuestion = { readonly call: ToolCall };
/** The gate's decision. `rule` says which rule decided; `arguments` are the cleaned ones to run with. */
export type GateAnswer =
	| { readonly allowed: true; readonly rule: string; readonly arguments: JsonObject }
	| { readonly allowed: false; readonly rule: string; readonly reason: string };

/** What a tool call came to, in the order the model asked. */
export type ToolReport = {
	readonly name: string;
	readonly owner: string;
	/** `allow`, `deny`, or `none` when the call never reached the gate (its arguments are no object, or the turn was stopped). */
	readonly decision: "allow" | "deny" | "none";
	readonly ok: boolean;
	readonly ms: number;
	readonly error?: ErrorReport;
	/** Permissions the call tried to use without a grant. */
	readonly refused?: readonly string[];
};

/** What a turn tells while it runs. Start pairs with end. */
export type TurnEvent =
	| { readonly type: "turn-start"; readonly turn: string }
	| { readonly type: "model-start"; readonly iteration: number }
	/** A piece of the answer on its way; `model-end` has the whole. Only with `stream`. */
	| { readonly type: "model-delta"; readonly iteration: number; readonly piece: EmitEvent }
	| {
			readonly type: "model-end";
			readonly iteration: number;
			readonly content: readonly Part[];
			readonly toolCalls: readonly ToolCall[];
	  }
	| { readonly type: "tool-start"; readonly call: ToolCall }
	| { readonly type: "tool-denied"; readonly call: ToolCall; readonly rule: string; readonly reason: string }
	| { readonly type: "tool-end"; readonly call: ToolCall; readonly report: ToolReport }
	| { readonly type: "turn-end"; readonly turn: string };

/** How a turn ended. `messages` are the new ones, to be added to the history. */
export type TurnOutcome =
	| {
			readonly ok: true;
			readonly reply: string;
			readonly stop: "end" | "length" | "filtered" | "iterations" | "loop";
			readonly usage: Usage;
			readonly tools: readonly ToolReport[];
			readonly messages: readonly Message[];
	  }
	| { readonly ok: false; readonly error: ErrorReport; readonly tools: readonly ToolReport[] };

/** What one plugin operation came to: an output, the plugin's own failure, or a break (which has an owner). */
export type CallOutcome =
	| {
			readonly ok: true;
			readonly output: unknown;
			readonly ms: number;
			/** Permissions the call tried to use without a grant, as `grant` takes them. */
			readonly refused?: readonly string[];
	  }
	| {
			readonly ok: false;
			readonly error: ErrorReport;
			readonly retryable: boolean;
			readonly retryAfterMs?: number;
			/** The plugin's own failure, when it reported one (`plugin.failed`). */
			readonly failure?: Failure;
			readonly ms: number;
			readonly refused?: readonly string[];
	  };
