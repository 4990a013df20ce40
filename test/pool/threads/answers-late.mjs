// answers each blocking question twice: first as if it were the one before it, then rightly
import { parentPort } from "node:worker_threads";

parentPort.once("message", ({ port, flag }) => {
	const cell = new Int32Array(flag);
	const give = (message) => {
		port.postMessage(message);
		Atomics.add(cell, 0, 1);
		Atomics.notify(cell, 0);
	};
	port.on("message", ({ id }) => {
		give({ id: id - 1, reply: { ok: true, value: "another's" } });
		give({ id, reply: { ok: true, value: "mine" } });
	});
	parentPort.postMessage("ready");
});
