import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { aHome, anEsmBundle, mortise, writeFiles } from "./workshop.js";

/** Replies with every message it was shown, and calls a tool where the last one is `call NAME JSON`. */
const mirror = anEsmBundle("acme.mirror", {
	code: `
		const textOf = (message) => message.content.map((part) => part.text ?? "").join("");
		const last = input.messages.at(-1);
		const usage = { input: 0, output: 0 };
		const call = last.role === "user" ? /^call (\\S+) (.*)$/.exec(textOf(last)) : null;
		if (call !== null) {
			const toolCalls = [{ id: "c-1", name: call[1], arguments: JSON.parse(call[2]) }];
			return { ok: true, output: { content: [], toolCalls, usage, stop: "tool" } };
		}
		const seen = input.messages.filter((each) => each.role !== "system").map((each) => [each.role, textOf(each)]);
		return { ok: true, output: { content: [{ type: "text", text: JSON.stringify(seen) }], toolCalls: [], usage, stop: "end" } };`,
	more: { provides: { providers: [{ name: "mirror", models: ["m-1"] }] } },
});
/** Says a line of text again and again, the last one marked. */
const floods = anEsmBundle("acme.floods", {
	code: `
		const whole = "é line\\n".repeat(input.arguments.lines) + "the end";
		return { ok: true, output: { content: [{ type: "text", text: whole }] } };`,
	tools: [{ name: "flood", effects: ["read"] }],
	more: { limits: { output: "8MiB" } },
});

describe("what an agent keeps, through the command line", () => {
	let home: string;
	beforeAll(async () => {
		home = await aHome({ mirror, floods });
		const auto_approve = ["memory_store", "memory_recall", "flood", "file_read"];
		const policy = { autonomy: "supervised", auto_approve };
		const agents = {
			squirrel: { provider: "offline", memory: "sqlite", policy },
			magpie: { provider: "offline", memory: "sqlite", policy },
			jotter: { provider: "offline", memory: "kv-notes", policy },
			jotter2: { provider: "offline", memory: "kv-notes", policy },
			parrot: { provider: "mirror", policy },
			crow: { provider: "mirror", policy },
		};
		await writeFiles(home, { "mortise.yaml": JSON.stringify({ agents }) });
	});

	async function reply(agent: string, message: string, options: readonly string[] = []): Promise<string> {
		const ran = await mortise(["run", agent, message, "--json", ...options], { home });
		expect(ran.status, ran.stdout + ran.stderr).toBe(0);
		return ran.json().reply;
	}

	it.each([
		["sqlite", "squirrel", "magpie"],
		["kv-notes", "jotter", "jotter2"],
	])(
		"is remembered in %s from one process to the next, by the agent that stored it alone",
		async (_store, agent, other) => {
			expect(await reply(agent, "recall shed")).not.toContain("green");
			expect(await reply(agent, "remember the shed is green")).toBe("remembered: the shed is green");
			const recalled = await reply(agent, "recall shed");
			expect(recalled).toMatch(/^memory_recall: \[\S+\] the shed is green$/);
			expect(await reply(other, "recall shed")).not.toContain("green");
		},
	);

	it("is the history of a session that is gone on with, and of no other", async () => {
		const session = "walk-1";
		expect(JSON.parse(await reply("parrot", "first", ["--session", session]))).toEqual([["user", "first"]]);
		const second = JSON.parse(await reply("parrot", "second", ["--session", session]));
		expect(second.map(([role]: [string]) => role)).toEqual(["user", "assistant", "user"]);
		expect([second[0][1], second[2][1]]).toEqual(["first", "second"]);
		expect(JSON.parse(await reply("parrot", "elsewhere"))).toEqual([["user", "elsewhere"]]);
	});

	it("can't be taken by another agent that names the session", async () => {
		const session = "walk-2";
		await reply("parrot", "a secret of mine", ["--session", session]);
		const taken = await mortise(["run", "crow", "what was said?", "--session", session, "--json"], { home });
		expect(taken.status).toBe(1);
		expect(taken.json().error).toMatchObject({ code: "session.other_agent", owner: "operator" });
		expect(taken.stdout).not.toContain("a secret of mine");
		// the attempt left nothing in it
		expect(JSON.parse(await reply("parrot", "again", ["--session", session]))).toHaveLength(3);
	});

	it("keeps an output that is too long for the model whole, and tells the model where", async () => {
		const seen = JSON.parse(await reply("parrot", 'call flood {"lines":20000}'));
		const shown: string = seen.at(-1)[1];
		const whole = `${"é line\n".repeat(20_000)}the end`;
		const note = /\[output cut: (\d+) of (\d+) bytes shown; the whole is kept as artefact (\S+)\]$/.exec(shown);
		expect(note).not.toBeNull();
		const [, cut = "", total = "", artefact = ""] = note ?? [];
		expect(Number(total)).toBe(Buffer.byteLength(whole));
		expect(Number(cut)).toBeLessThan(Number(total));
		expect(whole.startsWith(shown.slice(0, note?.index))).toBe(true);
		expect(shown).not.toContain("the end");
		expect(await readFile(join(home, "workspaces/parrot", artefact), "utf8")).toBe(whole);
		// the model can go on with it, and another agent cannot
		const reading = `call file_read ${JSON.stringify({ path: artefact })}`;
		expect(JSON.parse(await reply("parrot", reading)).at(-1)[1]).toMatch(/^é line\né line/);
		expect(JSON.parse(await reply("crow", reading)).at(-1)[1]).not.toContain("é line");
	});

	it("shows an output that fits as it is, and keeps nothing of it", async () => {
		const seen = JSON.parse(await reply("crow", 'call flood {"lines":3}'));
		expect(seen.at(-1)).toEqual(["tool", "é line\né line\né line\nthe end"]);
		expect(existsSync(join(home, "workspaces/parrot/.artefacts"))).toBe(true);
		expect(existsSync(join(home, "workspaces/crow/.artefacts"))).toBe(false);
	});
});
