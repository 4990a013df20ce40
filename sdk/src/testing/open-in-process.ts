import type { Answer, Envelope } from "../contract/envelope.js";
import type { Host } from "../contract/host.js";
import type { JsonObject } from "../contract/json.js";
import type { Opened } from "./case.js";

type Handling = { readonly handle: (envelope: Envelope, host: Host) => Promise<Answer> };

/**
 * Opens a plugin in this process, for its author's quick tests: what crosses is copied as JSON, as in the real host,
 * and nothing is confined.
 */
export function openInProcess(plugin: Handling, host: Host, config: JsonObject = {}): Opened {
	let calls = 0;
	return {
		async call(op, input, { agent, onEmit } = {}) {
			const ctx = { call: `call-${++calls}`, deadlineMs: 10_000, config, ...(agent === undefined ? {} : { agent }) };
			const emit: Host["emit"] = async (event) => {
				onEmit?.(copy(event));
				return {};
			};
			const lent = onEmit === undefined ? host : { ...host, emit };
			try {
				return copy(await plugin.handle(copy({ v: 1 as const, op, input, ctx }), lent));
			} catch (error) {
				return { ok: false, failure: { code: "internal", message: `handle threw: ${String(error)}` } };
			}
		},
	};
}

function copy<T>(value: T): T {
	return JSON.parse(JSON.stringify(value)) as T;
}
