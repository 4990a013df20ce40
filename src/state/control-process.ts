import { fstatSync, write } from "node:fs";
import { connect, Socket } from "node:net";
import type { State } from "@mortise/sdk/contract";
import { errorReport } from "../errors.js";
import { maxStateBytes, type StateOutcome, type StateTarget } from "./target.js";

/** Where the control process listens: an inherited descriptor, or a unix socket by absolute path. */
export type ControlProcess = { readonly fd: number } | { readonly socket: string };

/**
 * The target `control-process`: one line of JSON a publication (newline-delimited), on a descriptor that the host
 * inherited or on a unix socket, connected to anew each time. Waits at most `timeoutMs` for the line to be taken. With nothing
 * configured every publication fails. Codes: `state.nobody_listens`, `state.too_large`.
 */
export function createControlProcessTarget(options: {
	readonly controlProcess?: ControlProcess;
	readonly timeoutMs: number;
}): StateTarget {
	const { controlProcess, timeoutMs } = options;
	if (controlProcess === undefined) {
		const outcome = nobody("no descriptor or socket", "control_process is not set");
		return { name: "control-process", check: async () => outcome, publish: async () => outcome, close: () => {} };
	}
	const line =
		"fd" in controlProcess
			? descriptorLine(controlProcess.fd, timeoutMs)
			: socketLine(controlProcess.socket, timeoutMs);
	return {
		name: "control-process",
		check: line.check,
		publish: async (state: State) => {
			const text = `${JSON.stringify(state)}\n`;
			const bytes = Buffer.byteLength(text);
			if (bytes <= maxStateBytes) return line.send(text);
			return { ok: false, error: errorReport("state.too_large", { bytes, maxBytes: maxStateBytes }) };
		},
		close: line.close,
	};
}

type Line = {
	readonly check: () => Promise<StateOutcome>;
	readonly send: (text: string) => Promise<StateOutcome>;
	readonly close: () => void;
};

/** A socket connected to for each line. Checking connects and sends nothing. */
function socketLine(path: string, timeoutMs: number): Line {
	const dial = (text: string): Promise<StateOutcome> =>
		new Promise((resolve) => {
			const socket = connect({ path });
			const settle = (outcome: StateOutcome) => {
				clearTimeout(timer);
				socket.destroy();
				resolve(outcome);
			};
			const timer = setTimeout(() => settle(nobody(path, `not taken within ${timeoutMs} ms`)), timeoutMs);
			socket.on("error", (error) => settle(nobody(path, reasonOf(error))));
			socket.on("connect", () => socket.end(text));
			socket.on("finish", () => settle({ ok: true }));
			socket.resume();
		});
	return { check: () => dial(""), send: dial, close: () => {} };
}

/** A descriptor kept for the host's life. A line that was begun is always finished before the next. */
function descriptorLine(fd: number, timeoutMs: number): Line {
	const where = `descriptor ${fd}`;
	let stream: Socket | undefined;
	let broken: string | undefined;
	const check = async (): Promise<StateOutcome> => {
		if (broken !== undefined) return nobody(where, broken);
		try {
			fstatSync(fd);
			return { ok: true };
		} catch (error) {
			return nobody(where, reasonOf(error));
		}
	};
	const open = (): Socket | undefined => {
		const stat = fstatSync(fd);
		if (!stat.isFIFO() && !stat.isSocket()) return undefined;
		stream ??= new Socket({ fd, readable: false, writable: true });
		stream.unref();
		if (stream.listenerCount("error") === 0) {
			stream.on("error", (error) => {
				broken = reasonOf(error);
			});
		}
		return stream;
	};
	const send = async (text: string): Promise<StateOutcome> => {
		const checked = await check();
		if (!checked.ok) return checked;
		try {
			const pipe = open();
			// what an earlier, unread line left waiting must not grow without bound
			if (pipe !== undefined && pipe.writableLength > maxStateBytes) return nobody(where, "earlier lines are not read");
			return await bounded(where, timeoutMs, (done) => {
				if (pipe === undefined) write(fd, text, done);
				else pipe.write(text, done);
			});
		} catch (error) {
			return nobody(where, reasonOf(error));
		}
	};
	return { check, send, close: () => stream?.destroy() };
}

function bounded(
	where: string,
	timeoutMs: number,
	start: (done: (error?: Error | null) => void) => void,
): Promise<StateOutcome> {
	return new Promise((resolve) => {
		const timer = setTimeout(() => resolve(nobody(where, `not taken within ${timeoutMs} ms`)), timeoutMs);
		start((error) => {
			clearTimeout(timer);
			resolve(error === undefined || error === null ? { ok: true } : nobody(where, reasonOf(error)));
		});
	});
}

function nobody(where: string, detail: string): StateOutcome {
	return { ok: false, error: errorReport("state.nobody_listens", { where, detail }) };
}

function reasonOf(error: unknown): string {
	return error instanceof Error && "code" in error ? String(error.code) : "unknown";
}
