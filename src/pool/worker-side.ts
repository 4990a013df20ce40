// Runs in: worker.
import { receiveMessageOnPort } from "node:worker_threads";
import type { HostPort } from "../engine/index.js";
import { heardByMany } from "../heard-by-many.js";
import type { BlockingQuestion, BlockingReply, JobMessage, Question, Reply, ToMain, ToWorker } from "./protocol.js";

let nextBlocking = 1;

/** The worker's end of one job. */
export type WorkerLink = {
	readonly ask: <K extends Question["kind"]>(question: Extract<Question, { kind: K }>) => Promise<Reply[K]>;
	readonly tell: (message: Extract<ToMain, { type: "event" }>) => void;
	readonly hostPort: (bundle: string) => HostPort;
	/** Aborted when the main thread cancels the job; the reason is `cancelled` or `timeout`. */
	readonly signal: AbortSignal;
};

/** Opens the worker's end of a job's channels. */
export function linkWorker(message: Omit<JobMessage, "job">): WorkerLink {
	const { port, blocking } = message;
	const waiting = new Map<number, (reply: Reply[Question["kind"]]) => void>();
	const aborter = new AbortController();
	heardByMany(aborter.signal);
	let next = 0;
	port.on("message", (incoming: ToWorker) => {
		if (incoming.type === "cancel") return aborter.abort(incoming.reason);
		waiting.get(incoming.id)?.(incoming.reply);
		waiting.delete(incoming.id);
	});
	const ask = <K extends Question["kind"]>(question: Extract<Question, { kind: K }>): Promise<Reply[K]> =>
		new Promise((resolve) => {
			next += 1;
			// the main thread answers a question with the reply of its kind
			waiting.set(next, resolve as (reply: Reply[Question["kind"]]) => void);
			port.postMessage({ type: "question", id: next, question } satisfies ToMain);
		});
	return {
		ask,
		tell: (told) => port.postMessage(told),
		hostPort: (bundle) => hostPort({ bundle, ask, blocking }),
		signal: aborter.signal,
	};
}

function hostPort(options: { bundle: string; ask: WorkerLink["ask"]; blocking: JobMessage["blocking"] }): HostPort {
	const { bundle, ask, blocking } = options;
	const cell = new Int32Array(blocking.flag);
	return {
		call: (name, args, signal) => {
			const asked = ask<"host">({ kind: "host", bundle, name, arguments: args, timeoutMs: maxWaitMs });
			return new Promise((resolve) => {
				const give = () => resolve({ ok: false, failure: { code: "cancelled", message: "the call was cancelled" } });
				if (signal.aborted) return give();
				signal.addEventListener("abort", give, { once: true });
				void asked.then((result) => {
					signal.removeEventListener("abort", give);
					resolve(result);
				});
			});
		},
		callBlocking: (name, args, timeoutMs) => {
			const id = nextBlocking++;
			const question: BlockingQuestion = { id, question: { kind: "host", bundle, name, arguments: args, timeoutMs } };
			const end = performance.now() + timeoutMs;
			let seen = Atomics.load(cell, 0);
			blocking.port.postMessage(question);
			for (;;) {
				const left = end - performance.now();
				if (left <= 0)
					return { ok: false, failure: { code: "unavailable", message: `host.${name} did not answer in time` } };
				// the thread waits here: WebAssembly on this Node cannot be suspended without rewriting the module
				Atomics.wait(cell, 0, seen, left);
				seen = Atomics.load(cell, 0);
				for (;;) {
					const received = receiveMessageOnPort(blocking.port) as { message: BlockingReply } | undefined;
					if (received === undefined) break;
					// an answer to a question that was given up, maybe another plugin's, is nobody's
					if (received.message.id === id) return received.message.reply;
				}
			}
		},
	};
}

/** The longest one host call is let run on the main thread when the engine gives no shorter deadline, in milliseconds. */
const maxWaitMs = 120_000;
