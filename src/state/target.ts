import type { State } from "@mortise/sdk/contract";
import type { ErrorReport } from "../contract/index.js";

/** Where an agent's state goes: the agent's own folder, and the path it asks for inside that. */
export type StatePlace = {
	/** The agent's repository or workspace, absolute. */
	readonly root: string;
	/** Relative to `root`, with `/`; the target's own default when absent. Targets that write no file ignore it. */
	readonly path?: string;
};
export type StateOutcome = { readonly ok: true } | { readonly ok: false; readonly error: ErrorReport };

/** Something that takes published state. Neither call rejects: a failure is an outcome with a code. */
export type StateTarget = {
	readonly name: string;
	/** Whether a publication can be expected to work, asked before the turn starts. Changes nothing. */
	readonly check: (place: StatePlace) => Promise<StateOutcome>;
	/** Publishes one state; waits no longer than the target's bound. */
	readonly publish: (state: State, place: StatePlace) => Promise<StateOutcome>;
	readonly close: () => void;
};

/** The largest state that is published, in bytes of JSON. */
export const maxStateBytes = 1024 * 1024;
