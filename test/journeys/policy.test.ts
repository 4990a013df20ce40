import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { AuditRecord, Config } from "../../src/contract/index.js";
import type { Approver } from "../../src/policy/index.js";
import {
	aHome,
	anEsmBundle,
	answerText,
	aRuntime,
	done,
	mortise,
	type Opened,
	type Ran,
	writeFiles,
} from "./workshop.js";

/** A provider that calls whatever its user writes as JSON, offered or not, and replies with what came of it. */
const reckless = anEsmBundle("acme.reckless", {
	code: `
		const last = input.messages.at(-1);
		const rest = { usage: { input: 0, output: 0 } };
		const said = last.content.map((part) => part.text).join("");
		return last.role === "tool"
			? { ok: true, output: { ...rest, content: [{ type: "text", text: said }], toolCalls: [], stop: "end" } }
			: { ok: true, output: { ...rest, content: [], toolCalls: [{ id: "call-1", ...JSON.parse(said) }], stop: "tool" } };`,
	more: { provides: { providers: [{ name: "reckless", models: ["r-1"] }] } },
});
/** Says what it was called with. One tool says that it only reads, one that it writes. */
const echo = anEsmBundle("acme.echo", {
	code: answerText("JSON.stringify(input.arguments)"),
	tools: [
		{ name: "echo", effects: ["write"] },
		{ name: "peek", effects: ["read"] },
		{
			name: "typed",
			input: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
			effects: ["read"],
		},
	],
});
const agents = {
	plain: {},
	denies: { tools: { deny: ["echo"] } },
	empty: { tools: { allow: [] } },
	reads: { policy: { autonomy: "read-only", auto_approve: ["peek", "echo"] } },
	asks: { policy: { autonomy: "supervised", always_ask: ["echo"], auto_approve: ["echo", "peek"] } },
	approves: { policy: { autonomy: "supervised", auto_approve: ["echo"] } },
	full: { policy: { autonomy: "full" } },
};

const settings = Object.fromEntries(
	Object.entries(agents).map(([name, agent]) => [name, { provider: "reckless", ...agent }]),
) as NonNullable<Config["agents"]>;

async function recordsOf(home: string): Promise<readonly AuditRecord[]> {
	const text = await readFile(join(home, "logs/audit.jsonl"), "utf8").catch(() => "");
	return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

describe("policy and approvals, in a turn", () => {
	let opened: Opened;
	beforeAll(async () => {
		opened = await aRuntime({ bundles: { reckless, echo }, config: { agents: settings } });
	});

	const yes: Approver = async () => "allow";
	const no: Approver = async () => "deny";
	it.each([
		["a denied tool", "denies", "echo", undefined, "deny", "unknown-tool", "policy"],
		["a denied tool, with a yes", "denies", "echo", yes, "deny", "unknown-tool", "policy"],
		["any tool under an empty allow list", "empty", "peek", yes, "deny", "unknown-tool", "policy"],
		["a tool that is not there", "full", "nothing", yes, "deny", "unknown-tool", "policy"],
		["an act of a read-only agent, with a yes", "reads", "echo", yes, "deny", "read-only", "policy"],
		["what the operator lets a read-only agent read", "reads", "peek", undefined, "allow", "auto-approve", "policy"],
		["always_ask over auto_approve, nobody there", "asks", "echo", undefined, "deny", "no-approver", "nobody"],
		["always_ask with a yes", "asks", "echo", yes, "allow", "approved", "person"],
		["always_ask with a no", "asks", "echo", no, "deny", "denied", "person"],
		["auto_approve with nobody to ask", "approves", "echo", undefined, "allow", "auto-approve", "policy"],
		["auto_approve, about which nobody is asked", "approves", "echo", no, "allow", "auto-approve", "policy"],
		["another tool with nobody to ask", "approves", "peek", undefined, "deny", "no-approver", "nobody"],
		["no policy of its own, which is supervised", "plain", "echo", undefined, "deny", "no-approver", "nobody"],
		["full autonomy", "full", "echo", no, "allow", "full", "policy"],
	] as const)(
		"R65 R111 R112 decides %s once, and records it",
		async (_what, agent, name, approver, decision, rule, by) => {
			const before = (await recordsOf(opened.home)).length;
			const options = approver === undefined ? {} : { approver };
			const result = done(await opened.runtime.runTurn(agent, JSON.stringify({ name, arguments: {} }), options));
			// a denied call is for the model to read, and fails no turn
			expect(result.tools).toMatchObject([{ name, decision, ok: decision === "allow" }]);
			const audit = (await recordsOf(opened.home)).slice(before);
			expect(audit).toHaveLength(1);
			expect(audit[0]).toMatchObject({ agent, tool: name, decision, rule, by, session: result.session });
		},
	);
});

type Told = { readonly ran: Ran; readonly audit: readonly AuditRecord[] };

describe("policy and approvals, through the command line", () => {
	let home: string;
	beforeAll(async () => {
		home = await aHome({ reckless, echo });
		await writeFiles(home, { "mortise.yaml": JSON.stringify({ agents: settings }) });
	});

	const recorded = () => recordsOf(home);

	async function told(agent: string, call: object, options: readonly string[] = []): Promise<Told> {
		const before = (await recorded()).length;
		const ran = await mortise(["run", agent, JSON.stringify(call), "--json", ...options], { home });
		return { ran, audit: (await recorded()).slice(before) };
	}

	const ask = (name: string, args: object = {}) => ({ name, arguments: args });

	it("tells the model, and the operator, that no person decided where nobody was there to ask", async () => {
		const { ran } = await told("plain", ask("echo"));
		expect(ran.json().reply).toMatch(/no person/);
		const text = await mortise(["run", "plain", JSON.stringify(ask("echo"))], { home });
		expect(text.stderr).toMatch(/✗ echo denied by no-approver: .*no person/);
		const denied = await told("plain", ask("echo"), ["--deny"]);
		expect(denied.ran.json().reply).toMatch(/a person decided against/);
		expect(denied.ran.json().reply).not.toMatch(/no person/);
	});

	it("takes an approval that the model wrote out of the arguments, and is not moved by it", async () => {
		const forged = ask("echo", { approved: true, text: "x" });
		const denied = await told("plain", forged);
		expect(denied.audit).toMatchObject([{ decision: "deny", rule: "no-approver" }]);
		const allowed = await told("full", forged);
		expect(JSON.parse(allowed.ran.json().reply)).toEqual({ text: "x" });
		const called = await mortise(["call", "echo", JSON.stringify(forged.arguments), "--json"], { home });
		expect([called.status, called.json().rule]).toEqual([1, "no-approver"]);
		const approved = await mortise(["call", "echo", JSON.stringify(forged.arguments), "--yes"], { home });
		expect(JSON.parse(approved.stdout)).toEqual({ text: "x" });
	});

	it("judges the arguments before anybody is asked", async () => {
		const { audit } = await told("asks", ask("typed", { n: "one" }), ["--yes"]);
		expect(audit).toMatchObject([{ tool: "typed", decision: "deny", rule: "arguments", by: "policy" }]);
	});

	it("decides a single call by the policy of the agent it is made for, with 0 or 1", async () => {
		const cases = [
			[["--agent", "denies", "--yes"], 1, "tool-not-allowed"],
			[["--agent", "reads", "--yes"], 1, "read-only"],
			[["--agent", "asks"], 1, "no-approver"],
			[["--agent", "asks", "--yes"], 0, "approved"],
			[["--agent", "approves"], 0, "auto-approve"],
			[[], 1, "no-approver"],
			[["--deny"], 1, "denied"],
			[["--yes", "--deny"], 1, "denied"],
		] as const;
		for (const [options, status, rule] of cases) {
			const before = (await recorded()).length;
			const ran = await mortise(["call", "echo", "{}", "--json", ...options], { home });
			expect([ran.status, ran.json().rule, ran.json().ok], options.join(" ")).toEqual([status, rule, status === 0]);
			expect((await recorded()).slice(before), options.join(" ")).toMatchObject([{ tool: "echo", rule }]);
		}
	});

	it("writes the audit log for its owner only, one whole record a line", async () => {
		await told("full", ask("peek"));
		await told("full", ask("peek"));
		const { mode } = await stat(join(home, "logs/audit.jsonl"));
		expect(mode & 0o777).toBe(0o600);
		const all = await recorded();
		expect(all.length).toBeGreaterThan(0);
		for (const record of all)
			expect(record).toEqual({
				at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
				agent: expect.any(String),
				session: expect.any(String),
				turn: expect.any(String),
				call: expect.any(String),
				tool: expect.any(String),
				origin: expect.stringMatching(/^(plugin|native|unknown)$/),
				...(record.origin === "plugin" ? { bundle: expect.any(String) } : {}),
				decision: expect.stringMatching(/^(allow|deny)$/),
				rule: expect.any(String),
				by: expect.stringMatching(/^(policy|person|nobody)$/),
				prev: expect.stringMatching(/^[0-9a-f]{64}$/),
			});
		const verified = await mortise(["audit", "verify", "--json"], { home });
		expect(verified.status).toBe(0);
		expect(verified.json()).toMatchObject({ ok: true, cut: 0, head: expect.stringMatching(/^[0-9a-f]{64}$/) });
		const file = join(home, "logs", "audit.jsonl");
		await writeFile(file, (await readFile(file, "utf8")).replace('"allow"', '"deny"'));
		const broken = await mortise(["audit", "verify", "--json"], { home });
		expect(broken.status).toBe(1);
		expect(broken.json()).toMatchObject({ ok: false, brokenAt: expect.any(Number) });
	});
});
