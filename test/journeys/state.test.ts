import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { State } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import { aFolder, aHome, anEsmBundle, answerText, cli, closeLater, mortise, writeFiles } from "./workshop.js";

/** A home with one agent, `teller`, whose state goes to a target. */
async function aTeller(state: object, more: object = {}): Promise<string> {
	const home = await aHome();
	const config = { agents: { teller: { provider: "offline", state } }, ...more };
	await writeFiles(home, { "mortise.yaml": JSON.stringify(config) });
	return home;
}

const statusesOf = (lines: readonly string[]) => lines.map((line) => State.parse(JSON.parse(line)).status);

describe("the state of an agent, through the command line", () => {
	it("goes to a control process on a unix socket: one line when the turn begins, one when it ends", async () => {
		const lines: string[] = [];
		const folder = await aFolder();
		const socket = join(folder, "control.sock");
		let arrived = (): void => undefined;
		const both = new Promise<void>((resolve) => {
			arrived = resolve;
		});
		const server = createServer((peer) => {
			createInterface({ input: peer }).on("line", (line) => {
				if (lines.push(line) === 2) arrived();
			});
		});
		server.listen(socket);
		await once(server, "listening");
		closeLater(() => new Promise((resolve) => server.close(resolve)));

		const home = await aTeller({ target: "control-process" }, { control_process: { socket } });
		const ran = await mortise(["run", "teller", "what is 1+1", "--json"], { home });
		expect([ran.status, ran.json().published]).toEqual([0, { target: "control-process", ok: true }]);
		await both;
		expect(statusesOf(lines)).toEqual(["running", "done"]);
		const { reply, session, turn } = ran.json();
		expect(JSON.parse(lines[1] ?? "")).toMatchObject({ agent: "teller", runtime: "mortise", reply, session, turn });
	});

	it("goes to a control process on a descriptor that the command inherited", async () => {
		const home = await aTeller({ target: "control-process" }, { control_process: { fd: 3 } });
		const child = spawn(process.execPath, [cli, "run", "teller", "what is 1+1", "--json", "--home", home], {
			cwd: home,
			env: { PATH: process.env.PATH },
			stdio: ["ignore", "pipe", "inherit", "pipe"],
		});
		const lines: string[] = [];
		const reader = createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => void lines.push(line));
		const out: Buffer[] = [];
		child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
		const [[status]] = await Promise.all([once(child, "close"), once(reader, "close")]);
		expect(status).toBe(0);
		const { reply } = JSON.parse(Buffer.concat(out).toString());
		expect(statusesOf(lines)).toEqual(["running", "done"]);
		expect(JSON.parse(lines[1] ?? "")).toMatchObject({ agent: "teller", reply });
	});

	it.each([
		["on the socket", { socket: "nobody.sock" }],
		["on the descriptor", { fd: 900 }],
	])("stops the agent before anything runs where nobody listens %s (C6)", async (_where, control_process) => {
		const home = await aTeller({ target: "control-process" }, { control_process });
		const ran = await mortise(["run", "teller", "what is 1+1", "--json"], { home });
		expect(ran.status).toBe(1);
		expect(ran.json()).toMatchObject({
			refused: true,
			failures: [{ rule: "state_publication", fix: expect.any(String) }],
		});
	});

	it("goes into a file, whole, where the operator says, and replaces nothing that is not a state", async () => {
		const home = await aTeller({ target: "file", path: "states/teller.json" });
		const first = await mortise(["run", "teller", "what is 1+1", "--json"], { home });
		expect(first.json().published).toEqual({ target: "file", ok: true });
		const file = join(home, "states/teller.json");
		const state = State.parse(JSON.parse(await readFile(file, "utf8")));
		expect(state).toMatchObject({ status: "done", reply: "1+1 = 2", turn: first.json().turn });
		await mortise(["run", "teller", "what is 2+2"], { home });
		expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ reply: "2+2 = 4" });

		await writeFiles(home, { "states/teller.json": '{"mine":true}' });
		const refused = await mortise(["run", "teller", "what is 3+3", "--json"], { home });
		expect([refused.status, refused.json().failures[0].rule]).toEqual([1, "state_publication"]);
		expect(await readFile(file, "utf8")).toBe('{"mine":true}');
	});

	it("says that a turn failed, and why", async () => {
		const home = await aHome({
			breaks: anEsmBundle("acme.breaks", {
				code: `throw new Error("broken");`,
				more: { provides: { providers: [{ name: "breaks", models: ["b-1"] }] } },
			}),
		});
		const agents = { teller: { provider: "breaks", state: { target: "file", path: "state.json" } } };
		await writeFiles(home, { "mortise.yaml": JSON.stringify({ agents }) });
		const ran = await mortise(["run", "teller", "hello", "--json"], { home });
		expect([ran.status, ran.json().error.owner]).toEqual([1, "plugin"]);
		const state = State.parse(JSON.parse(await readFile(join(home, "state.json"), "utf8")));
		expect(state).toMatchObject({ status: "failed", error: ran.json().error.message, turn: ran.json().turn });
	});

	it("goes to a target that a bundle serves, and a target that none serves refuses the agent (C5)", async () => {
		const bus = anEsmBundle("acme.bus", {
			code: `await host.log({ level: "info", message: JSON.stringify(input.state) });\nreturn { ok: true, output: {} };`,
			more: { provides: { state_targets: ["acme-bus"] } },
		});
		const home = await aHome({ bus, other: anEsmBundle("acme.other", { code: answerText("1") }) });
		const agents = { teller: { provider: "offline", state: { target: "acme-bus" } } };
		await writeFiles(home, { "mortise.yaml": JSON.stringify({ agents }) });
		const ran = await mortise(["run", "teller", "what is 1+1", "--json"], { home });
		expect([ran.status, ran.json().published]).toEqual([0, { target: "acme-bus", ok: true }]);
		const logged = await readFile(join(home, "logs/acme.bus.log"), "utf8");
		const lines = logged.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
		expect(statusesOf(lines.map((line) => line.message ?? line.msg))).toEqual(["running", "done"]);

		await mortise(["plugin", "disable", "acme.bus"], { home });
		const refused = await mortise(["run", "teller", "what is 1+1", "--json"], { home });
		expect(refused.status).toBe(1);
		expect(refused.json().failures.map((each: { rule: string }) => each.rule)).toEqual(["state_publication"]);
	});
});
