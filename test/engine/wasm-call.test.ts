import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { CallOutcome, HostPort, PluginCall, PluginCode } from "../../src/contract/index.js";
import { openPlugin } from "../../src/engine/open.js";
import { openWasm } from "../../src/engine/wasm/wasm.js";
import { aHost, aPlugin, smallLimits } from "../hostile/wasm/build.js";

type More = {
	readonly code?: Partial<PluginCode>;
	readonly host?: Partial<HostPort>;
	readonly call?: Partial<PluginCall>;
};

const aCall = (more: Partial<PluginCall> = {}): PluginCall => ({
	op: "tool.call",
	input: { name: "tool", arguments: {} },
	call: "call-1",
	timeoutMs: 5000,
	...more,
});

/** One call at the door of a module of the corpus. */
const callDoor = async (name: string, { code, host, call }: More = {}): Promise<CallOutcome> =>
	openWasm(await aPlugin(name, code), aHost(host)).call(aCall(call));

/** One call of a plain export. */
const callExport = async (
	name: string,
	entry: string,
	{ code, host, call }: More & { input?: "text" | "json" } = {},
) => {
	const exports = { tool: { export: entry, input: "text" as const } };
	return callDoor(name, {
		...(host === undefined ? {} : { host }),
		code: { exports, ...code },
		call: { input: { name: "tool", arguments: { text: "in" } }, ...call },
	});
};

const done = { content: [{ type: "text", text: "done" }] };
const textOf = (outcome: CallOutcome): string => {
	if (!outcome.ok) throw new Error(`${outcome.error.code}: ${outcome.error.message}`);
	const { content } = outcome.output as { content: { text: string }[] };
	return content.map((part) => part.text).join("");
};

describe("a WebAssembly plugin called at its door", () => {
	it("answers", async () => {
		const outcome = await callDoor("answers");
		expect(outcome).toMatchObject({ ok: true, output: done });
		expect(outcome.ms).toBeGreaterThan(0);
		expect(outcome).not.toHaveProperty("refused");
	});

	it("is given the envelope of the contract", async () => {
		const code = await aPlugin("answers", { exports: {}, config: { units: "metric" } });
		// the corpus echoes its input under a plain export: the door's envelope is read through a module that gives it back
		const seen = openWasm({ ...code, body: (await aPlugin("echoes-envelope")).body }, aHost());
		const outcome = await seen.call(aCall({ agent: "helper", timeoutMs: 800 }));
		expect(outcome).toMatchObject({
			ok: true,
			output: {
				structured: {
					v: 1,
					op: "tool.call",
					input: { name: "tool", arguments: {} },
					ctx: { call: "call-1", deadlineMs: 800, agent: "helper", config: { units: "metric" } },
				},
			},
		});
	});

	it("runs its start function and its initialiser once each, in that order, for every call", async () => {
		const plugin = openWasm(await aPlugin("counts-starts"), aHost());
		for (let round = 0; round < 3; round += 1) expect(await plugin.call(aCall())).toMatchObject({ ok: true });
	});

	it("reports its own failure as plugin.failed, with its code and its wait", async () => {
		expect(await callDoor("fails")).toMatchObject({
			ok: false,
			error: { code: "plugin.failed", owner: "plugin" },
			retryable: true,
			retryAfterMs: 50,
			failure: { code: "rate_limited" },
		});
	});

	it("can be opened by its profile", async () => {
		expect(await openPlugin(await aPlugin("answers"), aHost()).call(aCall())).toMatchObject({ ok: true });
	});
});

describe("a plain Extism export called as a tool", () => {
	it("takes the text of the arguments and gives one text part", async () => {
		const call = { input: { name: "tool", arguments: { text: "grüße 🌍" } } };
		expect(await callExport("answers", "echo", { call })).toMatchObject({
			ok: true,
			output: { content: [{ type: "text", text: "grüße 🌍" }] },
		});
	});

	it("takes all arguments as JSON and gives JSON back as structured output too", async () => {
		const exports = { tool: { export: "echo", input: "json" as const } };
		const call = { input: { name: "tool", arguments: { city: "Köln", days: [1, 2] } } };
		expect(await callDoor("answers", { code: { exports }, call })).toMatchObject({
			ok: true,
			output: {
				content: [{ type: "text", text: '{"city":"Köln","days":[1,2]}' }],
				structured: { city: "Köln", days: [1, 2] },
			},
		});
	});

	it("takes an empty text, and tells no output from an empty one", async () => {
		const call = { input: { name: "tool", arguments: { text: "" } } };
		expect(textOf(await callExport("answers", "echo", { call }))).toBe("");
		expect(await callExport("answers", "silent")).toMatchObject({ ok: true, output: { content: [] } });
		expect(await callExport("answers", "empty")).toMatchObject({ output: { content: [{ type: "text", text: "" }] } });
	});

	it("counts a function without a result as one that ended well", async () => {
		expect(textOf(await callExport("answers", "no_result"))).toBe("in");
	});

	it("refuses arguments that do not fit, before any of it runs", async () => {
		const call = { input: { name: "tool", arguments: { text: 7 } } };
		expect(await callExport("answers", "echo", { call })).toMatchObject({
			error: { code: "engine.invalid_input" },
			failure: { code: "invalid_input" },
		});
	});

	it.each(["absent", "not_a_function", "takes_something", "constructor", "memory"])(
		"refuses the export %s, which is none that can be called",
		async (entry) => {
			expect(await callExport("answers", entry)).toMatchObject({ error: { code: "plugin.no_export" } });
		},
	);

	it("gives other tools of the same bundle to the door", async () => {
		const exports = { other: { export: "echo", input: "text" as const } };
		expect(await callDoor("answers", { code: { exports } })).toMatchObject({ ok: true, output: done });
		const call = { input: { name: "constructor", arguments: {} } };
		expect(await callDoor("answers", { code: { exports }, call })).toMatchObject({ ok: true, output: done });
	});
});

describe("a hostile WebAssembly plugin", () => {
	it.each([
		["spins", "plugin.cpu_limit"],
		["spins-in-start", "plugin.cpu_limit"],
		["spins-in-initialize", "plugin.cpu_limit"],
		["traps", "plugin.trap"],
		["traps-in-start", "plugin.trap"],
		["data-out-of-bounds", "plugin.trap"],
		["overflows-stack", "plugin.trap"],
		["throws", "plugin.trap"],
		["returns-vector", "plugin.trap"],
		["floods-output", "plugin.output_too_large"],
		["huge-alloc", "plugin.limit"],
		["negative-alloc", "plugin.limit"],
		["nonzero-return", "plugin.exit_code"],
		["sets-error", "plugin.guest_error"],
		["proc-exit", "plugin.exit_code"],
		["bad-json", "plugin.bad_answer"],
		["wrong-shape", "plugin.bad_answer"],
		["deep-json", "plugin.bad_answer"],
		["hoards-variables", "plugin.limit"],
	])("%s ends as %s, whose owner is the plugin", async (name, code) => {
		expect(await callDoor(name)).toMatchObject({ ok: false, error: { code, owner: "plugin" }, retryable: false });
	});

	it("ends an endless loop at its cpu budget, in its start function and its initialiser too", async () => {
		for (const name of ["spins", "spins-in-start", "spins-in-initialize"]) {
			const outcome = await callDoor(name, { code: { limits: { ...smallLimits, cpuMs: 50 } } });
			expect(outcome.ms).toBeGreaterThanOrEqual(49);
			expect(outcome.ms).toBeLessThan(10_000);
		}
	});

	it("ends at what the caller has left when that is shorter", async () => {
		expect(await callDoor("spins", { call: { timeoutMs: 30 } })).toMatchObject({ error: { code: "plugin.timeout" } });
		expect(await callDoor("answers", { call: { timeoutMs: 0 } })).toMatchObject({ error: { code: "plugin.timeout" } });
	});

	it("grows its memory and its tables to the limit and no further", async () => {
		expect(await callDoor("grows-memory")).toMatchObject({ ok: true, output: done });
		expect(await callDoor("grows-table")).toMatchObject({ ok: true, output: done });
	});

	it("fails although it caught what the host threw", async () => {
		expect(await callDoor("catches")).toMatchObject({ ok: false, error: { code: "plugin.limit" } });
	});

	it.each([
		...[
			"load_nowhere",
			"load_negative",
			"load_past_end",
			"load_word_past_end",
			"store_past_end",
			"store_word_past_end",
		],
		...["store_high", "use_after_free", "input_past_end", "input_word_past_end", "input_carries", "output_nowhere"],
		...["output_negative", "output_too_long", "error_nowhere", "log_nowhere", "config_nowhere", "var_nowhere"],
		...["var_value_nowhere", "host_nowhere"],
	])("reaches nothing outside its blocks: %s ends as plugin.bad_address", async (entry) => {
		expect(await callExport("bad-addresses", entry)).toMatchObject({
			ok: false,
			error: { code: "plugin.bad_address" },
		});
	});

	it.each(["free_nowhere", "length_nowhere"])("does no harm, and is no fault: %s", async (entry) => {
		expect(textOf(await callExport("bad-addresses", entry))).toContain("done");
	});

	it("has more blocks at once than a 15-bit index names, and reuses what it gives back", async () => {
		const limits = { ...smallLimits, memoryBytes: 67_108_864, cpuMs: 5000, timeoutMs: 10_000 };
		expect(await callDoor("many-blocks", { code: { limits } })).toMatchObject({ ok: true, output: done });
		const reuses = { exports: { tool: { export: "reuses", input: "text" as const } }, limits };
		const more = { code: reuses, call: { input: { name: "tool", arguments: { text: "" } } } };
		expect(textOf(await callDoor("many-blocks", more))).toContain("done");
	});

	it("cannot hoard empty blocks without end", async () => {
		expect(await callExport("many-blocks", "hoards")).toMatchObject({ error: { code: "plugin.limit" } });
	});

	it("is given back as much output as it says, and no byte more", async () => {
		expect(textOf(await callExport("output-length-lies", "shorter"))).toBe("good");
		expect(textOf(await callExport("frees-output", "freed"))).toBe("good");
	});

	it("floods no output through a plain export either", async () => {
		expect(await callExport("floods-output", "mortise_call")).toMatchObject({
			error: { code: "plugin.output_too_large" },
		});
	});

	it("takes an error back by setting none", async () => {
		expect(textOf(await callExport("sets-error", "clears"))).toContain("done");
	});

	it("refuses output that is no UTF-8", async () => {
		expect(await callExport("bad-json", "not_utf8")).toMatchObject({ error: { code: "plugin.bad_answer" } });
	});

	it("reads the keys of its configuration and nothing they inherit", async () => {
		const code = { config: { unit: "metric", days: 3 }, exports: { tool: { export: "read", input: "text" as const } } };
		const read = async (key: string) =>
			textOf(await callDoor("reads-config", { code, call: { input: { name: "tool", arguments: { text: key } } } }));
		expect(await read("unit")).toBe("metric");
		expect(await read("days")).toBe("3");
		for (const key of ["constructor", "__proto__", "toString", "absent", ""]) expect(await read(key)).toBe("");
	});

	it("keeps variables within a call and within their bound", async () => {
		const limits = { ...smallLimits, memoryBytes: 2_097_152 };
		expect(
			textOf(
				await callExport("hoards-variables", "replaces", {
					code: { exports: { tool: { export: "replaces", input: "text" } }, limits },
				}),
			),
		).toContain("done");
		const code = await aPlugin("hoards-variables", { exports: { tool: { export: "remembers", input: "text" } } });
		const plugin = openWasm(code, aHost());
		const call = aCall({ input: { name: "tool", arguments: { text: "" } } });
		for (let round = 0; round < 2; round += 1) expect(textOf(await plugin.call(call))).toContain("done");
	});

	it("logs no more than one call may, and the log tells how much was dropped", async () => {
		const logged: { level: string; message: string; fields?: { dropped?: number } }[] = [];
		const host: Partial<HostPort> = {
			call: async (_name, args) => {
				logged.push(args as (typeof logged)[number]);
				return { ok: true, value: {} };
			},
		};
		expect(await callDoor("floods-logs", { host, code: { limits: { ...smallLimits, cpuMs: 2000 } } })).toMatchObject({
			ok: true,
		});
		expect(logged.length).toBeLessThanOrEqual(201);
		expect(logged.reduce((sum, entry) => sum + entry.message.length, 0)).toBeLessThan(70_000);
		expect(logged.at(-1)?.fields?.dropped).toBeGreaterThan(3500);
	});

	it("finds nothing behind WASI, and opens no file for it", async () => {
		const files = () => readdirSync("/proc/self/fd").length;
		const before = files();
		const logged: unknown[] = [];
		const host: Partial<HostPort> = {
			call: async (_name, args) => {
				logged.push(args);
				return { ok: true, value: {} };
			},
		};
		const plugin = openWasm(await aPlugin("uses-wasi"), aHost(host));
		const outcomes = await Promise.all(Array.from({ length: 50 }, () => plugin.call(aCall())));
		for (const outcome of outcomes) expect(outcome).toMatchObject({ ok: true, output: done });
		expect(files()).toBeLessThanOrEqual(before);
		expect(logged).toContainEqual({ level: "warn", message: "panicked" });
	});

	it("may be a command that ends itself well", async () => {
		const exports = { tool: { export: "_start", input: "text" as const } };
		const call = { input: { name: "tool", arguments: { text: "" } } };
		expect(await callDoor("proc-exit", { code: { exports }, call })).toMatchObject({
			ok: true,
			output: { content: [] },
		});
	});
});

describe("calls beside each other", () => {
	it("never mix their outputs", async () => {
		const code = await aPlugin("answers", { exports: { tool: { export: "echo", input: "text" } } });
		const plugin = openWasm(code, aHost());
		const texts = Array.from({ length: 100 }, (_, index) => `call ${index}`);
		const outcomes = await Promise.all(
			texts.map((text) => plugin.call(aCall({ input: { name: "tool", arguments: { text } } }))),
		);
		expect(outcomes.map(textOf)).toEqual(texts);
	});

	it("go on on the same thread while twenty endless loops in a row end at their deadline", async () => {
		const limits = { ...smallLimits, cpuMs: 20 };
		const spins = openWasm(await aPlugin("spins", { limits }), aHost());
		const answers = openWasm(await aPlugin("answers"), aHost());
		for (let round = 0; round < 20; round += 1) {
			const [stopped, answered] = await Promise.all([spins.call(aCall()), answers.call(aCall())]);
			expect(stopped).toMatchObject({ error: { code: "plugin.cpu_limit" } });
			expect(stopped.ms).toBeLessThan(10_000);
			expect(answered).toMatchObject({ ok: true, output: done });
		}
	});

	it("leave no instance behind after a thousand traps", { timeout: 60_000 }, async () => {
		const traps = openWasm(await aPlugin("traps"), aHost());
		const round = async (count: number) => {
			for (let index = 0; index < count; index += 1) {
				expect((await traps.call(aCall())).ok).toBe(false);
			}
		};
		await round(1000);
		const before = process.memoryUsage().rss;
		await round(3000);
		// an instance holds a page of 64 KiB: 3000 that stay would be 190 MiB
		expect(process.memoryUsage().rss - before).toBeLessThan(96 * 1_048_576);
		expect(await openWasm(await aPlugin("answers"), aHost()).call(aCall())).toMatchObject({ ok: true });
	});

	it("are refused before and after by a signal that was aborted", async () => {
		const cancelled = { ok: false, error: { code: "plugin.cancelled", owner: "operator" } };
		const early = await callDoor("spins", { call: { signal: AbortSignal.abort() } });
		expect(early).toMatchObject(cancelled);
		expect(early.ms).toBeLessThan(smallLimits.cpuMs);
		const aborter = new AbortController();
		const plugin = openWasm(await aPlugin("spins"), aHost());
		const calling = plugin.call(aCall({ signal: aborter.signal }));
		aborter.abort();
		const linked = await calling;
		expect(linked).toMatchObject(cancelled);
		expect(linked.ms).toBeLessThan(smallLimits.cpuMs);
		// the last of its moments: while the plugin runs
		const late = new AbortController();
		const host: Partial<HostPort> = {
			callBlocking: () => {
				late.abort();
				return { ok: true, value: {} };
			},
		};
		const code: Partial<PluginCode> = { hostFunctions: ["log", "now", "random", "kv"] };
		const input = { name: "tool", arguments: { text: '{"op":"list"}' } };
		expect(
			await callExport("asks", "kv", {
				code: { ...code, exports: { tool: { export: "kv", input: "text" } } },
				host,
				call: { input, signal: late.signal },
			}),
		).toMatchObject(cancelled);
	});
});
