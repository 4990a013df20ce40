import type { EmitEvent, HostFunction, HostResult, JsonObject } from "@mortise/sdk/contract";
import type { CallOutcome, PluginCode } from "./plan.js";

/** The worker's way to the host functions that live on the main thread. Must not throw or reject; failure is a result. */
export type HostPort = {
	/** Asks the main thread and waits without holding the thread. */
	readonly call: (name: HostFunction, args: unknown, signal: AbortSignal) => Promise<HostResult>;
	/** Asks the main thread and holds this thread until it answers, at most `timeoutMs`. */
	readonly callBlocking: (name: HostFunction, args: unknown, timeoutMs: number) => HostResult;
};

/** One operation asked of a plugin. `timeoutMs` is what the caller has left; the bundle's own limit may be shorter. */
export type PluginCall = {
	readonly op: string;
	readonly input: unknown;
	/** An id, unique in this process. */
	readonly call: string;
	readonly timeoutMs: number;
	readonly agent?: string;
	readonly config?: JsonObject;
	/** Takes the pieces of an answer as they come. Without it, `host.emit` is absent. Must not throw. */
	readonly onEmit?: (event: EmitEvent) => void;
	/** Aborting it ends the call as `plugin.cancelled`. */
	readonly signal?: AbortSignal;
};

/** A plugin that can be called. Each call has a fresh instance: nothing is shared between calls. */
export type OpenedPlugin = {
	/**
	 * Never rejects. The output is checked against the operation's schema; an answer that does not fit is a break
	 * whose owner is the plugin.
	 */
	readonly call: (call: PluginCall) => Promise<CallOutcome>;
};

/** Makes a plugin callable. Throws when the code cannot be opened at all (a `HostError`); a failing call is an outcome. */
export type OpenPlugin = (code: PluginCode, host: HostPort) => OpenedPlugin;
