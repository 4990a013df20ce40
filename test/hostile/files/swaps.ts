import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

// another process, so that a swap can fall between any two steps
const swapForEver = `
	const { renameSync, rmSync } = require("node:fs");
	const move = (from, to) => {
		for (;;) {
			try { return renameSync(from, to); }
			catch {
				// a write has made the folder anew, and may still be filling it
				try { rmSync(to, { recursive: true, force: true }); } catch {}
			}
		}
	};
	process.stdout.write("ready");
	for (;;) {
		move("real", "parked");
		move("link", "real");
		move("real", "link");
		move("parked", "real");
	}`;

/**
 * Swaps the folder `real` of a folder with the link `link` beside it, over and over, while the work runs. In another
 * process, so that a swap can fall between any two steps.
 */
export async function whileSwapping<T>(cwd: string, work: () => Promise<T>): Promise<T> {
	const swapper: ChildProcess = spawn(process.execPath, ["-e", swapForEver], {
		cwd,
		stdio: ["ignore", "pipe", "inherit"],
	});
	try {
		if (swapper.stdout !== null) await once(swapper.stdout, "data");
		return await work();
	} finally {
		const isRunning = swapper.exitCode === null;
		const ended = once(swapper, "exit");
		swapper.kill("SIGKILL");
		if (isRunning) await ended;
	}
}
