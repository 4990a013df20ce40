import { pbkdf2Sync } from "node:crypto";

// what the job's `op` says: each a way for a thread to go wrong
export default async ({ job, port }) => {
	switch (job.op) {
		case "exit":
			process.exit(3);
			break;
		case "spin":
			for (;;);
		case "stuck":
			// seconds in one native call, where V8 cannot end the thread
			return pbkdf2Sync("a", "b", 15_000_000, 64, "sha512");
		case "throw":
			throw new Error("thrown");
		case "late-throw":
			setTimeout(() => {
				throw new Error("late");
			}, 1);
			return new Promise(() => {});
		case "out-of-memory": {
			const all = [];
			for (;;) all.push(new Array(1e5).fill(1));
		}
		case "wait":
			return new Promise((resolve) => {
				port.on("message", (message) => {
					if (message.type === "cancel") resolve({ ok: false, reason: message.reason });
				});
			});
		case "ignore":
			return new Promise(() => {});
		default:
			return { ok: true, output: job.op };
	}
};
