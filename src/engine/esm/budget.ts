// Runs in: worker.

/** Which limit of a bundle ended a call. */
export type Limit = "cpu" | "timeout";

/** What a call has left: thread time over all its stretches, and time on the clock, waiting included. */
export class Budget {
	readonly cpuMs: number;
	readonly timeoutMs: number;
	readonly #start: number;
	readonly #now: () => number;
	#spentMs = 0;

	constructor(
		limits: { readonly cpuMs: number; readonly timeoutMs: number },
		now: () => number = () => performance.now(),
	) {
		this.cpuMs = limits.cpuMs;
		this.timeoutMs = limits.timeoutMs;
		this.#now = now;
		this.#start = now();
	}

	/** Adds thread time that was used, in milliseconds. */
	spend(ms: number): void {
		this.#spentMs += ms;
	}

	/** Milliseconds on the clock until the deadline; may be negative. */
	get clockLeftMs(): number {
		return this.timeoutMs - (this.#now() - this.#start);
	}

	/** How long the next stretch may hold the thread, in milliseconds, and which limit says so. */
	next(): { readonly ms: number; readonly limit: Limit } {
		const cpu = this.cpuMs - this.#spentMs;
		const clock = this.clockLeftMs;
		return cpu <= clock ? { ms: cpu, limit: "cpu" } : { ms: clock, limit: "timeout" };
	}
}
