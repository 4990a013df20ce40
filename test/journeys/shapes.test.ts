import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { pathsOf } from "../capability/runtime-fixtures.js";
import { aHome, anEsmBundle, answerText, mortise, root, writeFiles } from "./workshop.js";

const text = z.string().min(1);
const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const problem = z.strictObject({
	code: text,
	file: text,
	line: z.number().int().min(0),
	column: z.number().int().min(0),
	pointer: z.string(),
	message: text,
	fix: text.optional(),
});
const error = z.strictObject({
	code: text,
	owner: z.enum(["operator", "author", "plugin", "host"]),
	message: text,
	next: text.optional(),
	problems: z.array(problem).optional(),
});
const failure = z.strictObject({ rule: text, message: text, fix: text.optional() });
const holder = z.strictObject({ origin: text, bundle: text.optional() });
const change = z.union([
	z.strictObject({ change: z.enum(["added", "removed"]), key: text, value: z.unknown() }),
	z.strictObject({ change: z.literal("changed"), key: text, from: z.unknown(), to: z.unknown() }),
]);
/** The shapes that scripts rely on. More members may come; these stay. */
const shapes = {
	error: z.strictObject({ error }),
	match: z.strictObject({ match: z.boolean(), failures: z.array(failure) }),
	validate: z.strictObject({ problems: z.array(problem) }),
	list: z
		.array(
			z.looseObject({
				id: text.nullable(),
				version: text.nullable(),
				kinds: z.array(z.enum(["provider", "memory", "tool", "channel"])),
				runtime: z.enum(["wasm", "esm"]).nullable(),
				isolation: text.nullable(),
				digest: digest.nullable(),
				state: z.enum(["loaded", "disabled", "refused", "pending"]),
				problems: z.array(problem),
			}),
		)
		.min(1),
	run: z.looseObject({
		reply: z.string(),
		session: text,
		turn: text,
		stop: z.enum(["end", "length", "filtered", "iterations", "loop"]),
		usage: z.looseObject({ input: z.number(), output: z.number() }),
		tools: z.array(
			z.looseObject({
				name: text,
				owner: text,
				decision: z.enum(["allow", "deny", "none"]),
				ok: z.boolean(),
				ms: z.number(),
			}),
		),
	}),
	refused: z.strictObject({ refused: z.literal(true), failures: z.array(failure).min(1) }),
	failed: z.looseObject({ error, session: text, turn: text, tools: z.array(z.unknown()) }),
	chat: z.strictObject({ turns: z.array(z.unknown()) }),
	call: z.looseObject({
		ok: z.boolean(),
		owner: text,
		content: z.array(z.looseObject({ type: text })),
		structured: z.unknown().optional(),
		failure: error.optional(),
		ms: z.number(),
	}),
	why: z.strictObject({
		name: text,
		winner: holder.nullable(),
		losers: z.array(holder.extend({ rule: z.string().regex(/^R\d+$/) })),
	}),
	doctor: z.strictObject({
		checks: z.array(z.strictObject({ name: text, ok: z.boolean(), detail: text, fix: text.optional() })).min(1),
		isolation: z.array(z.strictObject({ profile: text, provided: z.boolean(), reason: text.optional() })),
	}),
	document: z.looseObject({ runtime: text, protocol_versions: z.array(text).min(1) }),
	written: z.strictObject({ file: text, etag: text }),
	diff: z.strictObject({ changes: z.array(change) }),
	plan: z.looseObject({
		id: text,
		version: text,
		loads: z.boolean(),
		problems: z.array(problem),
		changes: z.array(change),
		loses: z.array(z.looseObject({ name: text, rule: text })),
		grants: z.array(text),
	}),
	installed: z.strictObject({
		id: text,
		version: text,
		digest,
		outcome: z.enum(["installed", "replaced", "unchanged"]),
		grants: z.array(text),
	}),
	removed: z.strictObject({ id: text, removed: z.literal(true) }),
	switched: z.strictObject({ id: text, enabled: z.boolean() }),
	inspect: z.looseObject({ id: text, version: text, digest, files: z.array(z.looseObject({ path: text })).min(1) }),
	granted: z.strictObject({ bundle: text, permission: text, granted: z.literal(true) }),
	revoked: z.strictObject({
		bundle: text,
		permission: text,
		granted: z.literal(false),
		stillGranted: z.array(text),
	}),
	names: z.strictObject({ names: z.array(text) }),
	set: z.strictObject({ name: text, set: z.literal(true) }),
	forgot: z.strictObject({ name: text, removed: z.boolean() }),
} satisfies Record<string, z.ZodType>;

const speaks = answerText("'said'");
const manifestOf = (files: ReturnType<typeof anEsmBundle>) => String(files["plugin.yaml"]);

describe("the shapes of --json and the exit codes", () => {
	let home: string;
	beforeAll(async () => {
		const broken = anEsmBundle("acme.broken", { code: speaks });
		home = await aHome({
			clash: anEsmBundle("acme.clash", { code: speaks, tools: [{ name: "memory_store" }, { name: "own" }] }),
			late: anEsmBundle("acme.late", { code: speaks, tools: [{ name: "own" }] }),
			off: anEsmBundle("acme.off", { code: speaks }),
			broken: { ...broken, "plugin.yaml": manifestOf(broken).replace('"1.0.0"', '"one"') },
			breaks: anEsmBundle("acme.breaks", {
				code: `throw new Error("broken");`,
				more: { provides: { providers: [{ name: "breaks", models: ["b-1"] }], tools: [] } },
			}),
		});
		await writeFiles(home, {
			"mortise.yaml": JSON.stringify({
				agents: { assistant: { provider: "offline" }, failing: { provider: "breaks" }, none: { provider: "nobody" } },
			}),
			...Object.fromEntries(
				Object.entries(anEsmBundle("acme.asks", { code: speaks, more: { permissions: { kv: true } } })).map(
					([name, content]) => [`source/${name}`, content],
				),
			),
			"a.json": JSON.stringify({ runtime: "a" }),
		});
		await mortise(["plugin", "disable", "acme.off"], { home });
	});

	async function shaped<S extends z.ZodType>(args: readonly string[], status: number, shape: S, input = "") {
		const ran = await mortise([...args, "--json"], { home, input });
		expect(ran.status, `${args.join(" ")}: ${ran.stdout}${ran.stderr}`).toBe(status);
		// one value, one line, nothing else
		expect(ran.stdout.split("\n")).toHaveLength(2);
		return shape.parse(ran.json());
	}

	it("of match, validate and doc diff, which need no host", async () => {
		const good = pathsOf("match-protocol-example");
		const bad = pathsOf("every-rule-at-once");
		await shaped(["match", good.runtime, good.manifest], 0, shapes.match);
		await shaped(["match", bad.runtime, bad.manifest], 1, shapes.match);
		await shaped(["match", good.runtime], 2, shapes.error);
		await shaped(["validate", good.runtime], 0, shapes.validate);
		await shaped(["validate", "a.json"], 1, shapes.validate);
		await shaped(["doc", "diff", good.runtime, good.runtime], 0, shapes.diff);
		await shaped(["doc", "diff", good.runtime, pathsOf("match-second-major").runtime], 1, shapes.diff);
		const invalid = await shaped(["doc", "diff", good.runtime, "a.json"], 1, shapes.error);
		expect(invalid.error.problems?.length).toBeGreaterThan(0);
	});

	it("of run and chat: done, refused, failed, unusable", async () => {
		await shaped(["run", "assistant", "use own with a"], 0, shapes.run);
		await shaped(["run", "none", "hello"], 1, shapes.refused);
		const failed = await shaped(["run", "failing", "hello"], 1, shapes.failed);
		expect(failed.error.owner).toBe("plugin");
		await shaped(["run", "assistant", "hello", "--session", "no id"], 1, shapes.error);
		await shaped(["run", "assistant"], 2, shapes.error);
		await shaped(["chat", "assistant"], 0, shapes.chat, "hello\n");
	});

	it("of call: done, denied, unknown, not JSON", async () => {
		await shaped(["call", "own", "{}", "--yes"], 0, shapes.call);
		const denied = await shaped(["call", "own"], 1, shapes.call);
		expect(denied.failure).toMatchObject({ code: "gate.no-approver" });
		await shaped(["call", "nothing"], 1, shapes.error);
		await shaped(["call", "own", "not json"], 2, shapes.error);
		await shaped(["call", "own", "{}", "--profile", "steel"], 2, shapes.error);
	});

	it("R80 R81 of why: a native tool over a plugin's, a plugin's over a later one's, and nobody", async () => {
		expect(await shaped(["why", "memory_store"], 0, shapes.why)).toEqual({
			name: "memory_store",
			winner: { origin: "native" },
			losers: [{ origin: "plugin", bundle: "acme.clash", rule: "R80" }],
		});
		expect(await shaped(["why", "own"], 0, shapes.why)).toEqual({
			name: "own",
			winner: { origin: "plugin", bundle: "acme.clash" },
			losers: [{ origin: "plugin", bundle: "acme.late", rule: "R81" }],
		});
		expect(await shaped(["why", "nothing"], 1, shapes.why)).toEqual({ name: "nothing", winner: null, losers: [] });
		const said = await mortise(["why", "memory_store"], { home });
		expect(said.stdout).toBe("memory_store: native\n  lost: plugin acme.clash (R80)\n");
	});

	it("of plugin list: loaded, disabled and refused side by side, the refused with its problems", async () => {
		const rows = await shaped(["plugin", "list"], 0, shapes.list);
		const states = Object.fromEntries(rows.map(({ id, state, problems }) => [id, [state, problems.length > 0]]));
		expect(states).toMatchObject({
			"text-kit": ["loaded", false],
			"acme.clash": ["loaded", false],
			"acme.off": ["disabled", expect.any(Boolean)],
			"acme.broken": ["refused", true],
		});
		const said = await mortise(["plugin", "list"], { home });
		expect(said.stdout).toMatch(/^acme\.broken +\S+ +refused /m);
		expect(said.stderr).toMatch(/plugin\.yaml:1:\d+: version: must be a semantic version/);
	});

	it("of plugin inspect, install, enable, disable and remove", async () => {
		await shaped(["plugin", "inspect", "text-kit"], 0, shapes.inspect);
		await shaped(["plugin", "inspect", "nothing"], 1, shapes.error);
		const plan = await shaped(["plan", "source"], 0, shapes.plan);
		expect(plan.grants).toEqual(["mortise grant acme.asks kv"]);
		const installed = await shaped(["plugin", "install", "source"], 0, shapes.installed);
		expect([installed.outcome, installed.grants]).toEqual(["installed", ["mortise grant acme.asks kv"]]);
		expect((await shaped(["plugin", "install", "source"], 0, shapes.installed)).outcome).toBe("unchanged");
		await shaped(["plugin", "install", "nowhere"], 1, shapes.error);
		await shaped(["plugin", "disable", "acme.asks"], 0, shapes.switched);
		await shaped(["plugin", "enable", "acme.asks"], 0, shapes.switched);
		await shaped(["plugin", "enable", "nothing"], 1, shapes.error);
		await shaped(["plugin", "remove", "acme.asks"], 0, shapes.removed);
		await shaped(["plugin", "remove", "acme.asks"], 1, shapes.error);
		const firstParty = await shaped(["plugin", "remove", "text-kit"], 1, shapes.error);
		expect(firstParty.error).toMatchObject({ code: "plugin.first_party", next: expect.stringContaining("disable") });
	});

	it("of grant, revoke and secrets", async () => {
		await shaped(["grant", "acme.clash", "kv"], 0, shapes.granted);
		await shaped(["revoke", "acme.clash", "kv"], 0, shapes.revoked);
		await shaped(["grant", "acme.clash", "everything"], 1, shapes.error);
		await shaped(["secret", "set", "SHAPE_KEY"], 0, shapes.set, "a-value-long-enough\n");
		expect((await shaped(["secret", "list"], 0, shapes.names)).names).toContain("SHAPE_KEY");
		await shaped(["secret", "remove", "SHAPE_KEY"], 0, shapes.forgot);
		await shaped(["secret", "remove", "SHAPE_KEY"], 1, shapes.forgot);
		await shaped(["secret", "set", "SHAPE_KEY"], 2, shapes.error);
	});

	it("of doc and doctor, where a refused bundle fails a check", async () => {
		await shaped(["doc"], 0, shapes.document);
		await shaped(["doc", "-o", "out.json"], 0, shapes.written);
		const doctor = await shaped(["doctor"], 1, shapes.doctor);
		expect(doctor.checks.filter((check) => !check.ok).map((check) => check.name)).toEqual(["bundles"]);
		expect(doctor.isolation.filter((each) => each.provided).map((each) => each.profile)).toContain("wasm");
	});

	it("of a configuration that is wrong, the same for every verb that reads it: 1, with every problem", async () => {
		await writeFiles(home, { "wrong.yaml": "pool: { threads: many }\nhoem: x\n" });
		for (const args of [["doc"], ["run", "assistant", "hello"], ["plugin", "list"], ["secret", "list"]]) {
			const { error: told } = await shaped([...args, "--config", "wrong.yaml"], 1, shapes.error);
			expect(told).toMatchObject({ code: "config.invalid", owner: "operator" });
			expect(told.problems?.map((each) => each.pointer)).toEqual(["/pool/threads", "/hoem"]);
		}
		const missing = await shaped(["doc", "--config", "absent.yaml"], 1, shapes.error);
		expect(missing.error.code).toBe("file.unreadable");
	});

	it("of a fault of the host: 3, with the host for its owner", async () => {
		// a Node that lacks what the host is built on
		await writeFiles(home, { "break.mjs": "delete globalThis.AbortController;\n" });
		const environment = { NODE_OPTIONS: `--import=${join(home, "break.mjs")}` };
		const ran = await mortise(["why", "own", "--json"], { home, environment });
		expect(ran.status).toBe(3);
		expect(shapes.error.parse(ran.json()).error).toMatchObject({ code: "host.internal", owner: "host" });
		const said = await mortise(["why", "own"], { home, environment });
		expect([said.status, said.stdout]).toEqual([3, ""]);
		expect(said.stderr).toMatch(/^error \(host\): /m);
		expect(said.stderr).not.toMatch(/^\s+at /m);
	});

	it("of a log level that is none: 2", async () => {
		const ran = await mortise(["why", "own", "--json"], { home, environment: { MORTISE_LOG: "loud" } });
		expect([ran.status, ran.json().error.code]).toEqual([2, "usage"]);
		expect(ran.json().error.message).toContain("silent");
	});

	it("of the checkout's own bundles, which plan to change nothing", async () => {
		const plan = await shaped(["plan", join(root, "plugins/text-kit")], 0, shapes.plan);
		expect([plan.changes, plan.loses, plan.grants]).toEqual([[], [], []]);
	});
});
