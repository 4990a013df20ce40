import { setImmediate } from "node:timers/promises";

const sliceMs = 4;

/** Runs a function in steps, giving the thread back after every few milliseconds. Rejects with the signal's reason when aborted. */
export async function inTurns<T>(steps: Generator<void, T, void>, signal?: AbortSignal): Promise<T> {
	let since = performance.now();
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
		if (performance.now() - since < sliceMs) continue;
		await setImmediate();
		signal?.throwIfAborted();
		since = performance.now();
	}
}

/** Runs a function in steps to its end, at once. */
export function atOnce<T>(steps: Generator<void, T, void>): T {
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}

/** Maps a list with at most `limit` under way; results keep the order of the list. The first rejection is the result. */
export async function mapBounded<T, R>(
	items: readonly T[],
	limit: number,
	map: (item: T) => Promise<R>,
): Promise<readonly R[]> {
	const results: R[] = [];
	const entries = items.entries();
	const lane = async (): Promise<void> => {
		for (const [index, item] of entries) results[index] = await map(item);
	};
	await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
	return results;
}
