import { HostError } from "../errors.js";
import { threadEntry } from "../thread-entry.js";
import { linkJob } from "./main-side.js";
import type { Job, JobEdges, JobResult } from "./protocol.js";
import { createSlot, type Slot } from "./slot.js";

export type PoolOptions = {
	/** Threads; 2 unless given. */
	readonly threads?: number;
	/** Turns under way at once in all threads; 500 unless given. More wait in line, first come first served. */
	readonly concurrency?: number;
	/** JavaScript heap of one thread in MiB; past it the thread ends and is replaced. 512 unless given. */
	readonly heapMiB?: number;
	/** How long a job may take to end by itself once it was asked to, in milliseconds, before its thread is ended. 2,000 unless given. */
	readonly graceMs?: number;
	/** The module the threads run; only tests give another. */
	readonly entry?: URL;
};

export type RunOptions = {
	/** Counted from the start of the job, not from its place in line. It is told to end then; `graceMs` later its thread is ended. */
	readonly timeoutMs: number;
	readonly signal?: AbortSignal;
};

/** Threads that run turns and single plugin calls. */
export type Pool = {
	/**
	 * Runs one job. Rejects only with a `HostError`: `pool.worker_died` when its thread ended under it (memory, exit,
	 * crash), `pool.no_answer` when it did not end in time and its thread had to be ended, `pool.cancelled` when it was
	 * cancelled in line, `pool.closed`.
	 */
	readonly run: <J extends Job>(job: J, edges: JobEdges, options: RunOptions) => Promise<JobResult[J["kind"]]>;
	/** Turns under way and waiting. */
	readonly load: () => { readonly running: number; readonly waiting: number };
	readonly close: () => Promise<void>;
};

type Waiting = { readonly start: () => void; readonly fail: (error: HostError) => void };

/** Makes a pool of turn workers. Threads start when there is work for them. */
export function createPool(options: PoolOptions = {}): Pool {
	const threads = options.threads ?? 2;
	const concurrency = options.concurrency ?? 500;
	const graceMs = options.graceMs ?? 2000;
	const slotOptions = { entry: options.entry ?? threadEntry("pool/worker"), heapMiB: options.heapMiB ?? 512 };
	const slots = new Set<Slot>();
	const line: Waiting[] = [];
	let closed = false;
	let running = 0;

	const takePlace = async (signal: AbortSignal | undefined): Promise<void> => {
		if (running < concurrency && line.length === 0) {
			running += 1;
			return;
		}
		await new Promise<void>((resolve, reject) => {
			const place: Waiting = { start: resolve, fail: reject };
			const leave = () => {
				const index = line.indexOf(place);
				if (index < 0) return;
				line.splice(index, 1);
				reject(new HostError("pool.cancelled"));
			};
			line.push(place);
			signal?.addEventListener("abort", leave, { once: true });
			if (signal?.aborted === true) leave();
		});
	};
	const givePlace = () => {
		const next = line.shift();
		if (next === undefined) running -= 1;
		else next.start();
	};
	const pickSlot = (): Slot => {
		const sorted = [...slots].sort((a, b) => a.load() - b.load());
		const least = sorted[0];
		if (least !== undefined && (least.load() === 0 || slots.size >= threads)) return least;
		const slot = createSlot(slotOptions);
		slots.add(slot);
		return slot;
	};
	const dropSlot = (slot: Slot) => {
		slots.delete(slot);
		void slot.end();
	};

	const run = async <J extends Job>(job: J, edges: JobEdges, limits: RunOptions): Promise<JobResult[J["kind"]]> => {
		if (closed) throw new HostError("pool.closed");
		// only turns stand in line: the other kinds are asked for by turns that hold a place already
		const inLine = job.kind === "turn";
		if (inLine) await takePlace(limits.signal);
		if (closed) throw new HostError("pool.closed");
		const slot = pickSlot();
		const link = linkJob(edges);
		let late = false;
		let giveUp: () => void = () => undefined;
		// in the race itself: a thread that is stuck may take long to end, and its caller does not wait for that
		const overdue = new Promise<never>((_resolve, reject) => {
			giveUp = () => {
				late = true;
				reject(new Error("it did not answer"));
			};
		});
		let lastResort: NodeJS.Timeout | undefined;
		const stop = (reason: "cancelled" | "timeout") => {
			link.cancel(reason);
			lastResort ??= setTimeout(giveUp, graceMs);
		};
		const deadline = setTimeout(() => stop("timeout"), limits.timeoutMs);
		const onAbort = () => stop("cancelled");
		limits.signal?.addEventListener("abort", onAbort, { once: true });
		if (limits.signal?.aborted === true) onAbort();
		try {
			const answered = slot.run({ job, ...link.message });
			// a thread that exits leaves tinypool's promise open for ever; its ports close, which is seen here
			const died = link.gone.then(() => {
				throw new Error("it ended");
			});
			answered.catch(() => undefined);
			died.catch(() => undefined);
			return (await Promise.race([answered, died, overdue])) as JobResult[J["kind"]];
		} catch (error) {
			dropSlot(slot);
			if (closed) throw new HostError("pool.closed", {}, { cause: error });
			if (late) throw new HostError("pool.no_answer", { job: job.kind, timeoutMs: limits.timeoutMs }, { cause: error });
			const detail = error instanceof Error ? error.message : String(error);
			throw new HostError("pool.worker_died", { job: job.kind, detail }, { cause: error });
		} finally {
			clearTimeout(deadline);
			clearTimeout(lastResort);
			limits.signal?.removeEventListener("abort", onAbort);
			link.close();
			if (inLine) givePlace();
		}
	};
	return {
		run,
		load: () => ({ running, waiting: line.length }),
		close: async () => {
			closed = true;
			for (const place of line.splice(0)) place.fail(new HostError("pool.closed"));
			await Promise.all([...slots].map((slot) => slot.end()));
		},
	};
}
