// Runs in: worker.
import type { ErrorReport } from "../contract/index.js";
import { errorReport } from "../errors.js";
import { heardByMany } from "../heard-by-many.js";

/** What ends a turn from outside: a cancel, or its deadline. Close it when the turn is over. */
export type Stop = {
	readonly signal: AbortSignal;
	readonly now: () => number;
	/** Milliseconds left; 0 when the time is over. */
	readonly leftMs: () => number;
	/** Waits at most this long; ends early when the turn is stopped. */
	readonly sleep: (ms: number) => Promise<void>;
	/** What the promise comes to, or undefined as soon as the turn is stopped. A rejection is passed on. */
	readonly orStopped: <T>(promise: Promise<T>) => Promise<T | undefined>;
	/** Why the turn was stopped: `turn.timeout` or `turn.cancelled`. */
	readonly report: (waiting: string) => ErrorReport;
	readonly close: () => void;
};

/** Joins a caller's signal and a deadline. The clock and the wait are parameters. */
export function createStop(request: {
	readonly signal: AbortSignal;
	readonly timeoutMs: number;
	readonly now?: () => number;
	readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}): Stop {
	const { timeoutMs, now = () => performance.now(), sleep = wait } = request;
	const deadline = new AbortController();
	const over = new AbortController();
	const signal = heardByMany(AbortSignal.any([request.signal, deadline.signal]));
	const endsAt = now() + timeoutMs;
	void sleep(timeoutMs, AbortSignal.any([signal, over.signal])).then(() => {
		if (!over.signal.aborted) deadline.abort("timeout");
	});
	return {
		signal,
		now,
		leftMs: () => Math.max(0, endsAt - now()),
		sleep: (ms) => sleep(ms, signal),
		orStopped: (promise) => orAborted(promise, signal),
		report: (waiting) =>
			signal.reason === "timeout"
				? errorReport("turn.timeout", { timeoutMs, waiting })
				: errorReport("turn.cancelled", { waiting }),
		close: () => over.abort(),
	};
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
	return new Promise((resolve, reject) => {
		const give = () => resolve(undefined);
		if (signal.aborted) give();
		signal.addEventListener("abort", give, { once: true });
		promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", give));
	});
}

function wait(ms: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) return resolve();
		const done = () => {
			clearTimeout(timer);
			signal.removeEventListener("abort", done);
			resolve();
		};
		const timer = setTimeout(done, ms);
		signal.addEventListener("abort", done, { once: true });
	});
}
