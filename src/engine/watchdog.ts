// Runs in: worker.
import vm from "node:vm";

/** What became of a stretch. `cpuMs` is the wall time it held this thread, in milliseconds. */
export type StretchOutcome<T> =
	| { readonly ok: true; readonly value: T; readonly cpuMs: number }
	| { readonly ok: false; readonly timedOut: true; readonly cpuMs: number };

/** The longest time V8's watchdog takes, in milliseconds. */
const longestMs = 2 ** 31 - 1;
const slot = Symbol.for("mortise.watchdog.run");
// a script has no arguments: what it runs is handed over in a slot that only host code can reach
const script = new vm.Script(`globalThis[Symbol.for("mortise.watchdog.run")]()`, { filename: "mortise-watchdog.js" });

/**
 * Runs a synchronous stretch of foreign code in this thread and ends it at its deadline: V8's watchdog stops the
 * execution wherever it is — in an endless WebAssembly loop, in an interpreter's builtin, in a blocking wait — and the
 * thread goes on. Nothing the stretch awaits later is covered: only code that runs before `run` returns.
 *
 * What a stopped stretch was working on is in an unknown state and must be thrown away. Stretches nest: the inner
 * deadline ends the inner stretch, the outer one ends both.
 *
 * @param timeoutMs milliseconds; 0 or less ends it before it begins
 * @param run must be synchronous; what it throws is thrown on
 */
export function underDeadline<T>(timeoutMs: number, run: () => T): StretchOutcome<T> {
	if (!(timeoutMs > 0)) return { ok: false, timedOut: true, cpuMs: 0 };
	// the stretch's own end is kept here, so that an error it throws is never taken for the watchdog's
	let ended: { readonly value: T } | { readonly error: unknown } | undefined;
	const globals = globalThis as { [slot]?: () => void };
	const outer = globals[slot];
	globals[slot] = () => {
		try {
			ended = { value: run() };
		} catch (error) {
			ended = { error };
		}
	};
	const start = performance.now();
	try {
		script.runInThisContext({ timeout: Math.min(Math.ceil(timeoutMs), longestMs), displayErrors: false });
	} catch (error) {
		if (ended === undefined && !isWatchdogError(error)) throw error;
	} finally {
		if (outer === undefined) delete globals[slot];
		else globals[slot] = outer;
	}
	const cpuMs = performance.now() - start;
	if (ended === undefined) return { ok: false, timedOut: true, cpuMs };
	if ("error" in ended) throw ended.error;
	return { ok: true, value: ended.value, cpuMs };
}

function isWatchdogError(error: unknown): boolean {
	return error instanceof Error && "code" in error && error.code === "ERR_SCRIPT_EXECUTION_TIMEOUT";
}
