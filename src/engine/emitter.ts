// Runs in: worker.
import type { EmitEvent, HostResult } from "@mortise/sdk/contract";
import type { PluginCall, PluginCode } from "../contract/index.js";

/** Pieces one call may emit. */
export const maxEmitted = 100_000;
/** How much one call may emit, as a multiple of the output it may give: arguments and reasoning come besides the text. */
const outputMultiple = 4;

/** Takes what `host.emit` is given. Must not throw. */
export type Emitter = (event: EmitEvent) => HostResult;

/** Passes the pieces of one call's answer on to whoever watches it, within bounds; without a watcher they are dropped. */
export function createEmitter(call: PluginCall, code: PluginCode): Emitter {
	const { onEmit } = call;
	const maxCharacters = code.limits.outputBytes * outputMultiple;
	let events = 0;
	let characters = 0;
	return (event) => {
		if (onEmit === undefined) return { ok: true, value: {} };
		events += 1;
		characters += event.type === "tool-call" ? event.argumentsText.length : event.text.length;
		if (events > maxEmitted || characters > maxCharacters) {
			const message = `one call may emit ${maxEmitted} pieces and ${maxCharacters} characters`;
			return { ok: false, failure: { code: "rate_limited", message, retryable: false } };
		}
		onEmit(event);
		return { ok: true, value: {} };
	};
}
