import Tinypool from "tinypool";
import { HostError } from "../errors.js";
import { threadEntry } from "../thread-entry.js";
import { linkJob } from "./main-side.js";
import type { Job, JobEdges, JobMessage, JobResult } from "./protocol.js";

export type PoolOptions = {
	/** Threads; 2 unless given. */
	readonly threads?: number;
	/** Jobs under way at once in all threads; 500 unless given. More wait in line. */
	readonly concurrency?: number;
	/** JavaScript heap of one thread in MiB; past it the thread ends and is replaced. 512 unless given. */
	readonly heapMiB?: number;
	/** How long a job may take to end by itself once it was asked to, in milliseconds, before its thread is ended. 2,000 unless given. */
	readonly graceMs?: number;
	/** The module the threads run; only tests give another. */
	readonly entry?: URL;
};

export type RunOptions = {
	/** The job is told to end then; `graceMs` later its thread is ended. */
	readonly timeoutMs: number;
	readonly signal?: AbortSignal;
};

/** Threads that run turns and single plugin calls. */
export type Pool = {
	/**
	 * Runs one job. Rejects only with a `HostError`: `pool.worker_died` when its thread ended under it (memory, exit,
	 * crash), `pool.no_answer` when it did not end in time and its thread had to be ended, `pool.closed`.
	 */
	readonly run: <J extends Job>(job: J, edges: JobEdges, options: RunOptions) => Promise<JobResult[J["kind"]]>;
	/** Jobs under way and waiting. */
	readonly load: () => { readonly running: number; readonly waiting: number };
	readonly close: () => Promise<void>;
};

/** Starts a pool of turn workers. Threads start with the first job. */
export function createPool(options: PoolOptions = {}): Pool {
	const threads = options.threads ?? 2;
	const graceMs = options.graceMs ?? 2000;
	const tinypool = new Tinypool({
		filename: (options.entry ?? threadEntry("pool/worker")).href,
		minThreads: 0,
		maxThreads: threads,
		concurrentTasksPerWorker: Math.max(1, Math.ceil((options.concurrency ?? 500) / threads)),
		idleTimeout: 60_000,
		// with atomics a worker would be frozen between jobs, and so its timers and ports
		useAtomics: false,
		execArgv: ["--disable-warning=ExperimentalWarning"],
		env: {},
		resourceLimits: { maxOldGenerationSizeMb: options.heapMiB ?? 512 },
	});
	let closed = false;
	let running = 0;

	const run = async <J extends Job>(job: J, edges: JobEdges, limits: RunOptions): Promise<JobResult[J["kind"]]> => {
		if (closed) throw new HostError("pool.closed");
		const link = linkJob(edges);
		const killer = new AbortController();
		let late = false;
		let settled = false;
		const stop = (reason: "cancelled" | "timeout") => {
			link.cancel(reason);
			lastResort ??= setTimeout(() => {
				late = true;
				killer.abort();
			}, graceMs);
		};
		let lastResort: NodeJS.Timeout | undefined;
		const deadline = setTimeout(() => stop("timeout"), limits.timeoutMs);
		const onAbort = () => stop("cancelled");
		limits.signal?.addEventListener("abort", onAbort, { once: true });
		if (limits.signal?.aborted === true) onAbort();
		running += 1;
		const message: JobMessage = { job, ...link.message };
		try {
			const answered = tinypool.run(message, { transferList: [...link.transfer], signal: killer.signal });
			// a thread that exits leaves tinypool's promise open for ever; its ports close, which is seen here
			const died = link.gone.then(() => {
				if (!settled) killer.abort();
				throw new Error("its thread ended");
			});
			answered.catch(() => undefined);
			died.catch(() => undefined);
			return (await Promise.race([answered, died])) as JobResult[J["kind"]];
		} catch (error) {
			if (closed) throw new HostError("pool.closed", {}, { cause: error });
			const detail = error instanceof Error ? error.message : String(error);
			if (late) throw new HostError("pool.no_answer", { job: job.kind, timeoutMs: limits.timeoutMs }, { cause: error });
			throw new HostError("pool.worker_died", { job: job.kind, detail }, { cause: error });
		} finally {
			settled = true;
			running -= 1;
			clearTimeout(deadline);
			clearTimeout(lastResort);
			limits.signal?.removeEventListener("abort", onAbort);
			link.close();
		}
	};
	return {
		run,
		load: () => ({ running, waiting: tinypool.queueSize }),
		close: async () => {
			closed = true;
			await tinypool.destroy();
		},
	};
}
