// Runs in: worker.
import type { Failure, HostFunction, HostResult } from "@mortise/sdk/contract";
import type { HostPort, PluginCall, PluginCode } from "../../contract/index.js";
import { type ErrorCode, type ErrorFields, HostError } from "../../errors.js";
import { createEmitter, type Emitter } from "../emitter.js";
import { type Blocks, createBlocks } from "./blocks.js";
import { type CallLog, createCallLog } from "./call-log.js";

/** All that one call of a plugin holds on the host's side. Nothing of it outlives the call. */
export type CallState = {
	readonly code: PluginCode;
	readonly blocks: Blocks;
	readonly log: CallLog;
	/** Permissions the call tried to use without a grant, as `grant` takes them. */
	readonly refused: Set<string>;
	/**
	 * Ends the call. The first fault is kept: a guest may catch what a host function throws and go on, and the call has
	 * failed all the same.
	 */
	readonly raise: (code: ErrorCode, fields?: ErrorFields, failure?: Failure) => never;
	/** Says that the guest's stretch begins now: its own work is counted from here. */
	readonly begin: () => void;
	/** Ends the call as the guest asked with WASI's `proc_exit`. */
	readonly exit: (status: number) => never;
	/** How the call was ended from inside a host function, if it was. */
	readonly ending: () => CallEnding | undefined;
	readonly emit: Emitter;
	/** Asks the main thread and holds this thread, for as long as the call has left. */
	readonly askHost: (name: HostFunction, args: unknown) => HostResult;
};

export type CallEnding =
	| { readonly kind: "fault"; readonly error: HostError; readonly failure?: Failure }
	| { readonly kind: "exit"; readonly status: number };

/** What `exit` throws, to unwind the guest. */
class GuestExit extends Error {}

/** Starts the state of one call, which must be over at `deadline` (of `performance.now()`). */
export function createCallState(options: {
	readonly code: PluginCode;
	readonly host: HostPort;
	readonly call: PluginCall;
	readonly deadline: number;
	readonly timeoutMs: number;
}): CallState {
	const { code, host, call, deadline, timeoutMs } = options;
	const refused = new Set<string>();
	let ending: CallEnding | undefined;
	const raise = (errorCode: ErrorCode, fields: ErrorFields = {}, failure?: Failure): never => {
		const error = new HostError(errorCode, { plugin: code.id, ...fields });
		ending ??= { kind: "fault", error, ...(failure === undefined ? {} : { failure }) };
		throw error;
	};
	let began = performance.now();
	let waitedMs = 0;
	return {
		code,
		blocks: createBlocks(code.limits.memoryBytes, {
			badAddress: (operation) => raise("plugin.bad_address", { operation }),
			tooMuch: (what, max) => raise("plugin.limit", { what, max }),
		}),
		log: createCallLog(),
		refused,
		raise,
		begin: () => {
			began = performance.now();
		},
		exit: (status) => {
			ending ??= { kind: "exit", status };
			throw new GuestExit();
		},
		ending: () => ending,
		emit: createEmitter(call, code),
		askHost: (name, args) => {
			const asked = performance.now();
			if (asked >= deadline) return raise("plugin.timeout", { timeoutMs, limit: "timeout" });
			const result = host.callBlocking(name, args, Math.ceil(deadline - asked));
			// granted as a whole, but not for this host or secret
			if (!result.ok && result.permission !== undefined) refused.add(result.permission);
			const answered = performance.now();
			waitedMs += answered - asked;
			if (answered >= deadline) return raise("plugin.timeout", { timeoutMs, limit: "timeout" });
			// the watchdog of a plugin that waits stands at its timeout: its own work is weighed here
			if (answered - began - waitedMs > code.limits.cpuMs) {
				return raise("plugin.cpu_limit", { cpuMs: code.limits.cpuMs });
			}
			return result;
		},
	};
}
