import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import type { HostResult } from "@mortise/sdk/contract";
import { reportOf } from "../errors.js";
import { heardByMany } from "../heard-by-many.js";
import type {
	BlockingQuestion,
	BlockingReply,
	JobEdges,
	JobMessage,
	Question,
	Reply,
	ToMain,
	ToWorker,
} from "./protocol.js";

/** The main thread's end of one job. */
export type JobLink = {
	readonly message: Omit<JobMessage, "job">;
	/** Settles when the worker's end went away, which happens when the job ended or its thread died. */
	readonly gone: Promise<void>;
	readonly cancel: (reason: "cancelled" | "timeout") => void;
	readonly close: () => void;
};

/**
 * Makes the two channels of a job and serves the worker's questions until `close`. Questions under way are aborted then.
 */
export function linkJob(edges: JobEdges): JobLink {
	const asked = new MessageChannel();
	const blocking = new MessageChannel();
	const flag = new SharedArrayBuffer(4);
	const aborter = new AbortController();
	heardByMany(aborter.signal);
	let closed = false;

	asked.port1.on("message", (message: ToMain) => {
		if (message.type === "event") return edges.event(message.event);
		void answer(edges, message.question, aborter.signal).then((reply) => {
			if (!closed) asked.port1.postMessage({ type: "reply", id: message.id, reply } satisfies ToWorker);
		});
	});
	blocking.port1.on("message", ({ id, question }: BlockingQuestion) => {
		void answer(edges, question, aborter.signal).then((reply) => {
			// the kind of the question decides the kind of the reply
			if (!closed) blocking.port1.postMessage({ id, reply: reply as HostResult } satisfies BlockingReply);
			const cell = new Int32Array(flag);
			Atomics.add(cell, 0, 1);
			Atomics.notify(cell, 0);
		});
	});
	let isGone = false;
	const gone = new Promise<void>((resolve) =>
		asked.port1.once("close", () => {
			isGone = true;
			resolve();
		}),
	);
	return {
		message: { port: asked.port2, blocking: { port: blocking.port2, flag } },
		gone,
		cancel: (reason) => asked.port1.postMessage({ type: "cancel", reason } satisfies ToWorker),
		close: () => {
			// reading a port that has closed by itself crashes the process on Node 20
			if (!isGone) takeLast(asked.port1, edges, aborter.signal);
			closed = true;
			aborter.abort();
			asked.port1.close();
			blocking.port1.close();
		},
	};
}

/**
 * The job's answer comes through another port and can overtake what was sent before it: events and log lines, for which
 * no thread waits, are taken out here.
 */
function takeLast(port: MessagePort, edges: JobEdges, signal: AbortSignal): void {
	for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
		const message = next.message as ToMain;
		if (message.type === "event") edges.event(message.event);
		else if (message.question.kind === "host" && message.question.name === "log")
			void answer(edges, message.question, signal);
	}
}

async function answer(edges: JobEdges, question: Question, signal: AbortSignal): Promise<Reply[Question["kind"]]> {
	try {
		switch (question.kind) {
			case "gate":
				return await edges.gate(question.question);
			case "native":
				return await edges.native(question, signal);
			case "host":
				return await edges.host(question, signal);
			case "code":
				return await edges.code(question.bundle);
			case "artefact":
				return await edges.artefact(question.call, question.text);
			default:
				return question satisfies never;
		}
	} catch (error) {
		return refusalOf(question.kind, error);
	}
}

/** An edge that broke its promise not to reject: closed, never open. */
function refusalOf(kind: Question["kind"], error: unknown): Reply[Question["kind"]] {
	const report = reportOf(error);
	switch (kind) {
		case "gate":
			return { allowed: false, rule: "host", reason: report.message };
		case "host":
			return { ok: false, failure: { code: "internal", message: report.message } };
		case "artefact":
			return { id: "" };
		case "native":
		case "code":
			return { ok: false, error: report };
		default:
			return kind satisfies never;
	}
}
