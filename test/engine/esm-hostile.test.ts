import { readdirSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { createRealm } from "../../src/engine/esm/realm.js";
import { aHost, aTool, type Code, callTool, hostile, textOrCode } from "./esm-builders.js";

type Case = { readonly ends: string; readonly owner?: string; readonly promise: string; readonly code?: Code };

const cpu = { limits: { cpuMs: 60 } };
const memory = { limits: { memoryBytes: 24 * 2 ** 20 } };
const kv: Code = { hostFunctions: ["log", "now", "random", "kv"] };

/** Each plugin of the corpus: how a call of it ends — a code of the table, or the text it answers with. */
const corpus: { readonly [name: string]: Case } = {
	spins: { ends: "plugin.cpu_limit", owner: "plugin", promise: "ends an endless loop", code: cpu },
	"spins-at-top-level": { ends: "plugin.cpu_limit", promise: "ends a loop in a module's own body", code: cpu },
	"spins-in-builtin": { ends: "plugin.cpu_limit", promise: "ends a search inside a native function", code: cpu },
	"spins-in-array-builtin": { ends: "plugin.cpu_limit", promise: "ends a walk inside a native function", code: cpu },
	"spins-in-jobs": { ends: "plugin.cpu_limit", promise: "ends an endless chain of promise jobs", code: cpu },
	"spins-and-catches": { ends: "plugin.cpu_limit", promise: "cannot be kept from ending by a catch", code: cpu },
	"spins-in-timer": { ends: "plugin.cpu_limit", promise: "ends a loop in a timer", code: cpu },
	"uses-cpu-in-slices": {
		ends: "plugin.cpu_limit",
		promise: "adds up thread time over stretches",
		code: { limits: { cpuMs: 400, timeoutMs: 5000 } },
	},
	"regex-bomb": { ends: "plugin.cpu_limit", promise: "ends a catastrophic pattern", code: cpu },
	"answers-with-a-spinning-getter": { ends: "plugin.cpu_limit", promise: "ends a getter of the answer", code: cpu },
	"answers-thenable-for-ever": { ends: "plugin.cpu_limit", promise: "ends an endless row of thenables", code: cpu },
	"grows-array": { ends: "plugin.memory_limit", owner: "plugin", promise: "caps objects", code: memory },
	"grows-buffer": { ends: "plugin.memory_limit", promise: "caps buffers", code: memory },
	"grows-string": { ends: "plugin.memory_limit", promise: "caps strings", code: memory },
	"grows-and-catches": { ends: "caught", promise: "lets a plugin live with a refused allocation", code: memory },
	recursion: { ends: "plugin.stack_limit", owner: "plugin", promise: "ends endless recursion" },
	"recursion-in-builtin": { ends: "plugin.stack_limit", promise: "ends recursion inside a native function" },
	"fills-and-calls": {
		ends: "plugin.memory_limit",
		promise: "ends a plugin whose host calls find no memory",
		code: memory,
	},
	"recurses-into-the-host": { ends: "plugin.stack_limit", promise: "ends recursion through the host" },
	"floods-output": { ends: "plugin.output_too_large", owner: "plugin", promise: "caps the answer" },
	"floods-logs": { ends: "done", promise: "drops log lines past the bound" },
	"floods-host-calls": { ends: "4936 rate_limited", promise: "caps host calls in flight", code: kv },
	"floods-host-calls-in-turn": { ends: "1000 rate_limited", promise: "caps host calls of one call" },
	"floods-arguments": { ends: "invalid_input", promise: "caps the arguments of a host call", code: kv },
	"timer-flood": { ends: "1000 too many timers", promise: "caps timers" },
	"never-answers": {
		ends: "plugin.never_answered",
		owner: "plugin",
		promise: "names a promise that nothing can settle",
	},
	"awaits-forever": {
		ends: "plugin.timeout",
		promise: "ends waiting at the deadline",
		code: { limits: { timeoutMs: 80 } },
	},
	"awaits-at-top-level": {
		ends: "plugin.timeout",
		promise: "ends waiting at top level at the deadline",
		code: { limits: { timeoutMs: 80 } },
	},
	throws: { ends: "plugin.threw", owner: "plugin", promise: "names what was thrown" },
	"throws-odd-things": { ends: "plugin.threw", promise: "survives an error whose properties throw" },
	"throws-in-timer": { ends: "plugin.threw", promise: "names what was thrown in a timer" },
	"bad-answer": { ends: "plugin.bad_answer", owner: "plugin", promise: "refuses an answer of another shape" },
	"answers-in-a-circle": { ends: "plugin.bad_answer", promise: "refuses an answer that is no JSON" },
	"answers-nothing": { ends: "plugin.bad_answer", promise: "refuses an absent answer" },
	"answers-with-a-proto": { ends: "", promise: "keeps an own __proto__ from becoming a prototype" },
	"answers-with-getters": { ends: "read 1", promise: "reads an answer's getters once" },
	"answers-thenable": { ends: "then", promise: "takes the first thing a thenable resolves to" },
	"answers-then-spins": { ends: "plugin.cpu_limit", promise: "ends a loop after the answer", code: cpu },
	"imports-fs": { ends: "plugin.import_refused", owner: "author", promise: "refuses a module of Node" },
	"imports-outside": { ends: "plugin.import_refused", owner: "author", promise: "refuses a file above the bundle" },
	"imports-later": { ends: "ImportRefusedError", promise: "refuses every other import at run time" },
	"reads-globals": { ends: "|log,now,random", promise: "shows nothing of the host" },
	"pollutes-prototypes": { ends: "", promise: "takes no harm from changed prototypes" },
	"keeps-state": { ends: "1,1,1", promise: "starts every call afresh" },
	"calls-ungranted": {
		ends: "plugin.threw",
		promise: "answers an ungranted call with the grant command",
		code: { ungranted: { http: "http:api.acme.test" } },
	},
	"calls-unasked": { ends: "undefined false", promise: "does not show what was not asked for" },
};

describe("the hostile ES-module corpus (DESIGN sections 7 and 8)", () => {
	it("has a test for each plugin", () => {
		const files = readdirSync(new URL("../hostile/esm", import.meta.url)).map((name) => name.replace(/\.js$/, ""));
		expect(files.sort()).toEqual(Object.keys(corpus).sort());
	});

	const cases = Object.entries(corpus).map(([name, each]) => ({ name, ...each }));
	it.each(cases.filter(({ name }) => name !== "pollutes-prototypes"))("$promise ($name)", async ({ name, ...each }) => {
		const outcome = await callTool(hostile(name, each.code));
		expect(textOrCode(outcome), each.promise).toBe(each.ends);
		if (each.owner !== undefined) expect(outcome).toMatchObject({ error: { owner: each.owner } });
		expect(textOrCode(await callTool(aTool('text = "well"'))), "the next call is unharmed").toBe("well");
	});

	it("takes no harm from changed prototypes: host, this call's outcome and the next call", async () => {
		const outcome = await callTool(hostile("pollutes-prototypes"));
		expect(outcome.ok ? "ok" : outcome.error.owner).toMatch(/^(ok|plugin)$/);
		expect(Reflect.get({}, "polluted")).toBeUndefined();
		expect(textOrCode(await callTool(aTool('text = JSON.stringify([{}.polluted ?? null, "".length])')))).toBe(
			"[null,0]",
		);
	});

	it("starts every call afresh, also the second and a concurrent one", async () => {
		const code = hostile("keeps-state");
		const outcomes = await Promise.all([callTool(code), callTool(code), callTool(code)]);
		expect(outcomes.map(textOrCode)).toEqual(["1,1,1", "1,1,1", "1,1,1"]);
	});

	it("keeps an own __proto__ from becoming a prototype", async () => {
		const outcome = await callTool(hostile("answers-with-a-proto"));
		expect(Reflect.get({}, "polluted")).toBeUndefined();
		const output = outcome.ok ? (outcome.output as { structured: object }) : { structured: {} };
		expect(Object.getPrototypeOf(output.structured)).toBe(Object.prototype);
		expect(Reflect.get(output.structured, "polluted")).toBeUndefined();
	});

	it("ends a spin soon after its cpu budget, inside a builtin too", async () => {
		for (const name of ["spins", "spins-in-builtin"]) {
			const outcome = await callTool(hostile(name, { limits: { cpuMs: 100 } }));
			expect(outcome.ms).toBeGreaterThanOrEqual(95);
			expect(outcome.ms).toBeLessThan(10_000);
		}
	});

	it("sends the host no more of log fields than its bound, in one line and in all", async () => {
		const host = aHost();
		const code = aTool(`const fields = {};
			for (let i = 0; i < 20000; i++) fields["key" + i] = { deep: [i, [i]] };
			for (let i = 0; i < 100; i++) await host.log({ level: "info", message: "m", fields });`);
		await callTool(code, { host: host.port });
		const logged = host.logs();
		expect(JSON.stringify(logged[0]).length).toBeLessThan(20_000);
		expect(JSON.stringify(logged).length).toBeLessThan(100_000);
		expect(logged.at(-1)?.message).toMatch(/^\d+ more log lines were dropped$/);
	});

	it("drops log lines past the bound, cuts long ones, and says how many were dropped", async () => {
		const host = aHost();
		await callTool(hostile("floods-logs"), { host: host.port });
		expect(host.logs()).toHaveLength(201);
		expect(host.logs()[0]?.message.length).toBeLessThan(8200);
		expect(host.logs().at(-1)).toEqual({ level: "warn", message: "9800 more log lines were dropped" });
	});

	it("escapes what was thrown and shows the plugin's own frames only", async () => {
		const outcome = await callTool(hostile("throws"));
		const message = outcome.ok ? "" : outcome.error.message;
		expect(message).toContain("plugin.js:");
		expect(message).not.toMatch(/[\p{Cc}\p{Cf}]|mortise:|node_modules/u);
	});

	it("never writes to the host's console, whatever fails in a host call: the stretch ends instead", async () => {
		const written = vi.spyOn(console, "error").mockImplementation(() => {});
		await callTool(hostile("fills-and-calls", memory));
		await callTool(hostile("recurses-into-the-host"));
		const { context, runtime } = await createRealm(2 ** 24);
		const gone = context.newFunction("gone", () => context.undefined);
		// a failure in the library's own half of a host call, where the library would print and let the guest go on
		runtime.hostRefs.delete(-(2 ** 31) as Parameters<typeof runtime.hostRefs.delete>[0]);
		expect(() => context.callFunction(gone, context.undefined)).toThrow();
		expect(written).not.toHaveBeenCalled();
		written.mockRestore();
	});

	it("lists the permission an ungranted call would need", async () => {
		const outcome = await callTool(hostile("calls-ungranted", corpus["calls-ungranted"]?.code));
		expect(outcome.refused).toEqual(["http:api.acme.test"]);
		expect(outcome).toMatchObject({
			error: { message: expect.stringContaining("mortise grant acme.test http:api.acme.test") },
		});
	});

	it("answers 50 good calls rightly on the thread where 20 others spin", async () => {
		const spinning = Array.from({ length: 20 }, (_, i) =>
			callTool(hostile(i % 2 === 0 ? "spins" : "spins-in-builtin", { limits: { cpuMs: 30 } })),
		);
		const good = Array.from({ length: 50 }, (_, i) =>
			callTool(aTool(`await new Promise((resolve) => setTimeout(resolve, ${i % 7})); text = "${i}"`)),
		);
		expect((await Promise.all(good)).map(textOrCode)).toEqual(good.map((_, i) => String(i)));
		expect(new Set((await Promise.all(spinning)).map(textOrCode))).toEqual(new Set(["plugin.cpu_limit"]));
	});
});
