import Tinypool from "tinypool";
import type { JobMessage } from "./protocol.js";

export type SlotOptions = { readonly entry: URL; readonly heapMiB: number };

/** One thread with its jobs. A thread that ended or was ended is never used again: its slot is thrown away with it. */
export type Slot = {
	/** Jobs under way in the thread. */
	readonly load: () => number;
	/** Rejects when the thread failed under the job. */
	readonly run: (message: JobMessage) => Promise<unknown>;
	/** Rejects every job the thread holds, then ends it; settles when it is gone. */
	readonly end: () => Promise<void>;
};

/**
 * Starts a thread. It is a tinypool of one: a larger one sends a job with an abort signal to a thread of its own, and
 * gives a replaced thread its waiting jobs one at a time.
 */
export function createSlot(options: SlotOptions): Slot {
	const tinypool = new Tinypool({
		filename: options.entry.href,
		minThreads: 1,
		maxThreads: 1,
		concurrentTasksPerWorker: Number.MAX_SAFE_INTEGER,
		// with atomics a thread would be frozen between jobs, and so its timers and ports
		useAtomics: false,
		execArgv: ["--disable-warning=ExperimentalWarning"],
		env: {},
		resourceLimits: { maxOldGenerationSizeMb: options.heapMiB },
	});
	let load = 0;
	let ending: Promise<void> | undefined;
	let reportEnd: (error: Error) => void = () => undefined;
	const ended = new Promise<never>((_resolve, reject) => {
		reportEnd = reject;
	});
	ended.catch(() => undefined);
	return {
		load: () => load,
		run: async (message) => {
			load += 1;
			try {
				const answered = tinypool.run(message, { transferList: [message.port, message.blocking.port] });
				answered.catch(() => undefined);
				return await Promise.race([answered, ended]);
			} finally {
				load -= 1;
			}
		},
		end: () => {
			// not tinypool's own destroy: it throws past its callers when the thread fails while it is being ended
			// a thread deep in native code may take long to go: its jobs are told first
			reportEnd(new Error("it was ended"));
			ending ??= Promise.all(tinypool.threads.map((thread) => thread.terminate())).then(() => undefined);
			return ending;
		},
	};
}
