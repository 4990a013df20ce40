import type { Host } from "../contract/host.js";
import type { JsonObject } from "../contract/json.js";

/** What every part of a plugin is given beside its input. */
export type Context = {
	/** The host functions. A member that was not granted is absent. */
	readonly host: Host;
	/** The operator's settings, already checked against the manifest's `config`; `{}` when there are none. */
	readonly config: JsonObject;
	/** The agent of this turn; absent outside a turn. */
	readonly agent: string | undefined;
	/** Milliseconds that were left when the call began. */
	readonly deadlineMs: number;
	/** The id of this call. */
	readonly call: string;
};
