import { once } from "node:events";
import { MessageChannel, Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { linkWorker } from "../../src/pool/worker-side.js";

describe("a blocking host call", () => {
	it("never takes the answer to a question that was given up", async () => {
		const asked = new MessageChannel();
		const blocking = new MessageChannel();
		const flag = new SharedArrayBuffer(4);
		const answers = new Worker(new URL("./threads/answers-late.mjs", import.meta.url));
		answers.postMessage({ port: blocking.port1, flag }, [blocking.port1]);
		await once(answers, "message");
		const host = linkWorker({ port: asked.port2, blocking: { port: blocking.port2, flag } }).hostPort("a");
		expect(host.callBlocking("kv", {}, 5000)).toEqual({ ok: true, value: "mine" });
		expect(host.callBlocking("kv", {}, 5000)).toEqual({ ok: true, value: "mine" });
		asked.port1.close();
		await answers.terminate();
	});

	it("ends by its own deadline when nobody answers", () => {
		const asked = new MessageChannel();
		const blocking = new MessageChannel();
		const host = linkWorker({
			port: asked.port2,
			blocking: { port: blocking.port2, flag: new SharedArrayBuffer(4) },
		}).hostPort("a");
		expect(host.callBlocking("http", {}, 20)).toMatchObject({ ok: false, failure: { code: "unavailable" } });
		asked.port1.close();
		blocking.port1.close();
	});
});
