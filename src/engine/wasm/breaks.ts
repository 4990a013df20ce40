// Runs in: worker.
import { errorReport, isHostError, reportOf } from "../../errors.js";
import type { ReadAnswer } from "../answer.js";
import type { CallState } from "./call-state.js";

/**
 * What an error that ended a call comes to. What a host function raised counts first, even when the guest went on to
 * trap because of it; then what the guest did by itself. Anything else is the host's own fault.
 */
export function breakOf(error: unknown, state: CallState): ReadAnswer {
	const plugin = state.code.id;
	const ending = state.ending();
	if (ending?.kind === "fault") {
		const { failure } = ending;
		const report = reportOf(ending.error);
		if (failure === undefined) return { ok: false, error: report, retryable: false };
		return {
			ok: false,
			error: report,
			retryable: failure.retryable ?? (failure.code === "rate_limited" || failure.code === "unavailable"),
			...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
			failure,
		};
	}
	if (ending?.kind === "exit") {
		const report = errorReport("plugin.exit_code", { plugin, name: "proc_exit", status: ending.status });
		return { ok: false, error: report, retryable: false };
	}
	const report = isHostError(error) ? reportOf(error) : guestBreak(error, plugin);
	return { ok: false, error: report, retryable: false };
}

function guestBreak(error: unknown, plugin: string) {
	if (error instanceof WebAssembly.RuntimeError) return errorReport("plugin.trap", { plugin, detail: error.message });
	if (error instanceof WebAssembly.LinkError) return errorReport("plugin.link", { plugin, detail: error.message });
	// the stack ran over, or a value crossed that JavaScript cannot hold: both are of the guest's making
	if (error instanceof RangeError || error instanceof TypeError) {
		return errorReport("plugin.trap", { plugin, detail: error.message });
	}
	if (isGuestException(error)) return errorReport("plugin.trap", { plugin, detail: "an exception nobody caught" });
	return reportOf(error);
}

/** An exception of WebAssembly's own kind: this TypeScript does not know the class. */
function isGuestException(error: unknown): boolean {
	const kind: unknown = Reflect.get(WebAssembly, "Exception");
	return typeof kind === "function" && error instanceof kind;
}
