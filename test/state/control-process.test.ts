import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { State } from "@mortise/sdk/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ControlProcess, createStateTargets, type StateOutcome } from "../../src/state/index.js";

const state: State = {
	agent: "helper",
	runtime: "example",
	protocol_version: "v0.1",
	session: "s",
	turn: "t",
	status: "done",
	reply: "two\nlines",
	at: "2026-01-01T00:00:00.000Z",
};
const place = { root: "/nowhere" };
const codeOf = (outcome: StateOutcome) => (outcome.ok ? true : outcome.error.code);

function targetOn(controlProcess?: ControlProcess, timeoutMs = 2000) {
	const target = createStateTargets({ ...(controlProcess === undefined ? {} : { controlProcess }), timeoutMs }).get(
		"control-process",
	);
	if (target === undefined) throw new Error("no such target");
	closing.push(target.close);
	return target;
}

let folder: string;
let closing: (() => unknown)[] = [];
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "mortise-control-"));
	closing = [];
});
afterEach(() => {
	for (const close of closing.reverse()) close();
	rmSync(folder, { recursive: true, force: true });
});

async function listen(onSocket: (socket: Socket) => void): Promise<{ server: Server; socket: string }> {
	const socket = join(folder, "control.sock");
	const server = createServer(onSocket);
	closing.push(() => server.close());
	server.listen(socket);
	await once(server, "listening");
	return { server, socket };
}

describe("control-process on a unix socket", () => {
	it("sends one line of JSON a publication", async () => {
		const lines: string[] = [];
		const arrived = new EventEmitter();
		const { socket } = await listen((peer) => {
			createInterface({ input: peer }).on("line", (line) => {
				if (lines.push(line) === 2) arrived.emit("both");
			});
		});
		const both = once(arrived, "both");
		const target = targetOn({ socket });
		expect(codeOf(await target.check(place))).toBe(true);
		expect(codeOf(await target.publish(state, place))).toBe(true);
		expect(codeOf(await target.publish({ ...state, status: "idle" }, place))).toBe(true);
		await both;
		expect(lines.map((line) => JSON.parse(line))).toEqual([state, { ...state, status: "idle" }]);
	});

	it("says that nobody listens: no socket, a dead one, a path too long, nothing configured", async () => {
		const { server, socket } = await listen(() => {});
		server.close();
		await once(server, "close");
		for (const controlProcess of [
			{ socket },
			{ socket: join(folder, "absent") },
			{ socket: `/${"x".repeat(300)}` },
			undefined,
		]) {
			const target = targetOn(controlProcess);
			expect(codeOf(await target.check(place))).toBe("state.nobody_listens");
			expect(codeOf(await target.publish(state, place))).toBe("state.nobody_listens");
		}
	});

	it("waits no longer than its bound for a listener that never reads", async () => {
		const peers: Socket[] = [];
		const { socket } = await listen((peer) => {
			peers.push(peer.pause());
		});
		closing.push(() => {
			for (const peer of peers) peer.destroy();
		});
		const target = targetOn({ socket }, 100);
		const start = performance.now();
		expect(codeOf(await target.publish({ ...state, reply: "x".repeat(900 * 1024) }, place))).toBe(
			"state.nobody_listens",
		);
		expect(performance.now() - start).toBeLessThan(2000);
	});
});

describe("control-process on an inherited descriptor", () => {
	function fifo(flags: number): { path: string; fd: number } {
		const path = join(folder, "pipe");
		expect(spawnSync("mkfifo", [path]).status).toBe(0);
		return { path, fd: openSync(path, flags) };
	}

	it("sends lines to the process at the other end of the pipe", async () => {
		// as an operator starts it: the host inherits descriptor 3, here played by a pipe that `cat` reads
		const { path, fd } = fifo(constants.O_RDWR | constants.O_NONBLOCK);
		const reader: ChildProcess = spawn("cat", [path], { stdio: ["ignore", "pipe", "ignore"] });
		closing.push(() => reader.kill());
		const lines = createInterface({ input: reader.stdout ?? process.stdin });
		const target = targetOn({ fd });
		expect(codeOf(await target.check(place))).toBe(true);
		const received = once(lines, "line");
		expect(codeOf(await target.publish(state, place))).toBe(true);
		expect(JSON.parse(String((await received)[0]))).toEqual(state);
	});

	it("waits no longer than its bound for a reader that never reads, and does not hoard", async () => {
		const { fd } = fifo(constants.O_RDWR | constants.O_NONBLOCK);
		const target = targetOn({ fd }, 50);
		const long = { ...state, reply: "x".repeat(900 * 1024) };
		const codes = [];
		for (let index = 0; index < 5; index++) codes.push(codeOf(await target.publish(long, place)));
		expect(new Set(codes)).toEqual(new Set(["state.nobody_listens"]));
		const last = await target.publish(long, place);
		expect(last.ok === false && last.error.message).toContain("earlier lines are not read");
	});

	it("says that nobody listens when the reader is gone or the descriptor is closed", async () => {
		const path = join(folder, "pipe");
		expect(spawnSync("mkfifo", [path]).status).toBe(0);
		const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
		const fd = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
		const target = targetOn({ fd });
		closeSync(reader);
		expect(codeOf(await target.publish(state, place))).toBe("state.nobody_listens");
		expect(codeOf(await targetOn({ fd: 900 }).check(place))).toBe("state.nobody_listens");
	});

	it("names a state that is too large", async () => {
		const { socket } = await listen(() => {});
		const target = targetOn({ socket });
		expect(codeOf(await target.publish({ ...state, reply: "x".repeat(1024 * 1024) }, place))).toBe("state.too_large");
	});
});
