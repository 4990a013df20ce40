import { afterEach, describe, expect, it } from "vitest";
import type { TurnPlan } from "../../src/contract/index.js";
import { isHostError } from "../../src/errors.js";
import { createPool, type Job, type JobEdges, type Pool, type PoolOptions } from "../../src/pool/index.js";

const edges: JobEdges = {
	gate: async () => ({ allowed: false, rule: "test", reason: "no gate here" }),
	native: async () => ({ ok: true, output: { content: [] } }),
	host: async () => ({ ok: false, failure: { code: "unsupported", message: "no host here" } }),
	code: async () => ({ ok: true, code: {} as never }),
	artefact: async () => ({ id: "" }),
	event: () => undefined,
};
const pools: Pool[] = [];

function aPool(options: PoolOptions = {}): Pool {
	const pool = createPool({
		threads: 1,
		graceMs: 1000,
		heapMiB: 32,
		entry: new URL("./threads/misbehaves.mjs", import.meta.url),
		...options,
	});
	pools.push(pool);
	return pool;
}

const ask = (pool: Pool, op: string, options: { timeoutMs?: number; signal?: AbortSignal } = {}) =>
	pool
		// the threads of these tests look at `op` alone; a turn, since only turns stand in line
		.run({ kind: "turn", op, plan: {} as TurnPlan } as Job, edges, { timeoutMs: 5000, ...options })
		.catch((error: unknown) => (isHostError(error) ? error.code : `not a host error: ${String(error)}`));

afterEach(async () => {
	await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

describe("the pool", () => {
	for (const op of ["exit", "throw", "late-throw", "out-of-memory"]) {
		it(`names the failure when a thread ends by ${op}, and is healthy after`, async () => {
			const pool = aPool();
			expect(await ask(pool, op)).toBe("pool.worker_died");
			expect(await ask(pool, "fine")).toEqual({ ok: true, output: "fine" });
		});
	}

	it("fails every job of a thread that dies, each by name, and none for ever", async () => {
		const pool = aPool();
		const waiting = [ask(pool, "ignore"), ask(pool, "ignore"), ask(pool, "exit")];
		expect(await Promise.all(waiting)).toEqual(["pool.worker_died", "pool.worker_died", "pool.worker_died"]);
		expect(await ask(pool, "fine")).toEqual({ ok: true, output: "fine" });
	});

	it("ends the thread of a job that never answers, after asking it to end", async () => {
		const pool = aPool();
		expect(await ask(pool, "spin", { timeoutMs: 50 })).toBe("pool.no_answer");
		expect(await ask(pool, "fine")).toEqual({ ok: true, output: "fine" });
	});

	it("answers callers while their thread is stuck in native code that nothing ends, others of the thread too", async () => {
		const pool = aPool({ graceMs: 100 });
		const other = ask(pool, "ignore");
		expect(await ask(pool, "stuck", { timeoutMs: 50 })).toBe("pool.no_answer");
		expect(await other).toBe("pool.worker_died");
		expect(await ask(pool, "fine")).toEqual({ ok: true, output: "fine" });
		// the thread is stuck for longer than this
	}, 3000);

	it("tells a job at its deadline, and takes the answer it then gives", async () => {
		expect(await ask(aPool(), "wait", { timeoutMs: 20 })).toEqual({ ok: false, reason: "timeout" });
	});

	it("tells a job that it was cancelled", async () => {
		const aborter = new AbortController();
		const answer = ask(aPool(), "wait", { signal: aborter.signal });
		aborter.abort();
		expect(await answer).toEqual({ ok: false, reason: "cancelled" });
	});

	it("starts no more jobs than its concurrency, keeps the order of the line, and lets a cancelled one leave it", async () => {
		const pool = aPool({ concurrency: 1 });
		const first = new AbortController();
		const second = new AbortController();
		const held = ask(pool, "wait", { signal: first.signal });
		const left = ask(pool, "fine", { signal: second.signal });
		const third = ask(pool, "third");
		expect(pool.load()).toEqual({ running: 1, waiting: 2 });
		second.abort();
		expect(await left).toBe("pool.cancelled");
		first.abort();
		expect(await held).toEqual({ ok: false, reason: "cancelled" });
		expect(await third).toEqual({ ok: true, output: "third" });
		expect(pool.load()).toEqual({ running: 0, waiting: 0 });
	});

	it("settles every job when it is closed", async () => {
		const pool = aPool();
		const answer = ask(pool, "ignore");
		await pool.close();
		expect(await answer).toBe("pool.closed");
		expect(await ask(pool, "fine")).toBe("pool.closed");
	});
});
