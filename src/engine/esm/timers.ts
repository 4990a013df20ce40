// Runs in: worker.

/** Timers one call may have at a time. */
const maxTimers = 1000;

/**
 * The timers of one call. `set` and `cancel` are called by the guest within a stretch and only take note; the thread's
 * own timer is armed afterwards, one for all.
 */
export class GuestTimers {
	readonly #due = new Map<number, number>();
	readonly #ready: () => void;
	#armed: NodeJS.Timeout | undefined;

	/** @param ready called when at least one timer is due; must not throw */
	constructor(ready: () => void) {
		this.#ready = ready;
	}

	/** Takes note of a timer; false when there are too many. */
	set(id: number, ms: number): boolean {
		if (this.#due.size >= maxTimers) return false;
		this.#due.set(id, performance.now() + (Number.isFinite(ms) ? ms : 0));
		return true;
	}

	cancel(id: number): void {
		this.#due.delete(id);
	}

	get pending(): boolean {
		return this.#due.size > 0;
	}

	/** Takes out the timers that are due, earliest first. */
	take(): readonly number[] {
		const now = performance.now();
		const due = [...this.#due].filter(([, at]) => at <= now).sort((a, b) => a[1] - b[1]);
		for (const [id] of due) this.#due.delete(id);
		return due.map(([id]) => id);
	}

	/** Waits for the earliest timer. */
	arm(): void {
		clearTimeout(this.#armed);
		if (this.#due.size === 0) return;
		const earliest = Math.min(...this.#due.values());
		// a Node timer may fire a fraction early
		const ms = Math.min(Math.max(0, Math.ceil(earliest - performance.now())), 2 ** 31 - 1);
		this.#armed = setTimeout(this.#ready, ms);
	}

	close(): void {
		clearTimeout(this.#armed);
		this.#due.clear();
	}
}
