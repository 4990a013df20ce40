import { cp, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { State } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import { aFolder, aHome, anEsmBundle, mortise, root, writeFiles } from "./workshop.js";

const message = 'use text_upper with text=hello then use note_add with {"title":"greeting","text":"{result}"}';

async function anAgent(name: string): Promise<string> {
	const folder = await aFolder();
	await cp(join(root, "examples", name, "agent"), folder, { recursive: true });
	return folder;
}

describe("the main job, through the command line", () => {
	it("runs an agent's repository to a reply through one WebAssembly and one ES-module tool, and publishes its state", async () => {
		const home = await aHome();
		const agent = await anAgent("agent-turn");
		const ran = await mortise(["run", agent, message, "--json"], { home });
		expect(ran.status, ran.stderr).toBe(0);
		const turn = ran.json();
		expect(turn).toMatchObject({
			reply: "text_upper: HELLO\nnote_add: noted: greeting",
			session: expect.any(String),
			turn: expect.any(String),
			stop: "end",
			usage: { input: expect.any(Number), output: expect.any(Number) },
			published: { target: "file", ok: true },
		});
		expect(turn.tools).toEqual([
			{ name: "text_upper", owner: "text-kit", decision: "allow", ok: true, ms: expect.any(Number) },
			{ name: "note_add", owner: "kv-notes", decision: "allow", ok: true, ms: expect.any(Number) },
		]);
		const state: unknown = JSON.parse(await readFile(join(agent, ".living/state.json"), "utf8"));
		expect(State.parse(state)).toEqual(state);
		expect(state).toMatchObject({
			runtime: "mortise",
			protocol_version: "v0.1.0",
			session: turn.session,
			turn: turn.turn,
			status: "done",
			reply: turn.reply,
		});
	});

	it("says the reply alone on stdout, and progress on stderr, without --json", async () => {
		const home = await aHome();
		const ran = await mortise(["run", "assistant", "what is 2+3*4"], { home });
		expect(ran.status).toBe(0);
		expect(ran.stdout).toBe("2+3*4 = 14\n");
		expect(ran.stderr).toMatch(/session [0-9a-f-]{36}/);
	});

	it("refuses an agent it cannot honour with every reason at once, and exits 1 (C6, C8)", async () => {
		const home = await aHome();
		const agent = await anAgent("refused-agent");
		const ran = await mortise(["run", agent, "book me a flight", "--json"], { home });
		expect(ran.status).toBe(1);
		const { refused, failures } = ran.json();
		expect(refused).toBe(true);
		expect(failures.map((each: { rule: string }) => each.rule).sort()).toEqual([
			"agent_capabilities",
			"isolation_profile",
			"protocol_version",
			"provider",
			"secrets",
			"state_publication",
			"tools",
		]);
		const text = await mortise(["run", agent, "book me a flight"], { home });
		expect(text.status).toBe(1);
		for (const { rule } of failures) expect(text.stdout).toMatch(new RegExp(`^ {2}${rule}: `, "m"));
		expect(text.stdout).toContain("mortise secret set TRAVEL_API_KEY");
		await expect(stat(join(agent, ".living/state.json"))).rejects.toMatchObject({ code: "ENOENT" });
		await expect(readFile(join(home, "logs/audit.jsonl"), "utf8")).resolves.toBe("");
	});

	it("opens no plugin for a refused agent, and the same plugin once the one rule is mended (C6)", async () => {
		const home = await aHome({
			tells: anEsmBundle("acme.tells", {
				code: `
					await host.log({ level: "info", message: "opened for " + op });
					return { ok: true, output: { content: [{ type: "text", text: "said" }], toolCalls: [], usage: { input: 0, output: 0 }, stop: "end" } };`,
				more: { provides: { providers: [{ name: "tells", models: ["t-1"] }] } },
			}),
		});
		const manifest = (version: string) => `protocol_version: ${version}
agent_capabilities: [run_tasks]
isolation_profile: wasm
state_publication: { target: file }
x-mortise: { provider: tells }
`;
		const agent = await writeFiles(await aFolder(), { ".living/manifest.yaml": manifest("v9.0.0") });
		const pluginLog = join(home, "logs", "acme.tells.log");
		const refused = await mortise(["run", agent, "hello", "--json"], { home });
		expect(refused.status).toBe(1);
		expect(refused.json().failures.map((each: { rule: string }) => each.rule)).toEqual(["protocol_version"]);
		await expect(readFile(pluginLog, "utf8")).rejects.toMatchObject({ code: "ENOENT" });

		await writeFiles(agent, { ".living/manifest.yaml": manifest("v0.1.0") });
		const ran = await mortise(["run", agent, "hello", "--json"], { home });
		expect(ran.json()).toMatchObject({ reply: "said" });
		await expect(readFile(pluginLog, "utf8")).resolves.toContain("opened for provider.chat");
	});
});
