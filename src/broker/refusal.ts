import type { FailureCode, HostResult } from "@mortise/sdk/contract";
import { grantCommand } from "./grant-word.js";

/** Ends a host call with a failure. Thrown and caught inside this room only; the message goes to the plugin. */
export class Refusal extends Error {
	readonly result: Extract<HostResult, { ok: false }>;

	constructor(code: FailureCode, message: string, more: { retryable?: boolean; permission?: string } = {}) {
		super(message);
		const { retryable, permission } = more;
		this.result = {
			ok: false,
			failure: { code, message, ...(retryable === undefined ? {} : { retryable }) },
			...(permission === undefined ? {} : { permission }),
		};
	}
}

/** The plugin asked for a permission that its operator has not granted: says so with the command that grants it. */
export function ungranted(id: string, permission: string, what: string): Refusal {
	return new Refusal("unauthorized", `${what}; run: ${grantCommand(id, permission)}`, { permission });
}
