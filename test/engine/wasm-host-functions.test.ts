import type { HostResult } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import type { CallOutcome, HostPort, PluginCode } from "../../src/contract/index.js";
import { createCallState } from "../../src/engine/wasm/call-state.js";
import { createKernel } from "../../src/engine/wasm/kernel.js";
import { openWasm } from "../../src/engine/wasm/wasm.js";
import { HostError } from "../../src/errors.js";
import { aHost, aPlugin, smallLimits } from "../hostile/wasm/build.js";

type More = { readonly code?: Partial<PluginCode>; readonly host?: Partial<HostPort>; readonly timeoutMs?: number };

/** Hands a text to one export of a module of the corpus. */
const ask = async (
	name: string,
	entry: string,
	text: string,
	{ code, host, timeoutMs }: More = {},
): Promise<CallOutcome> => {
	const exports = { tool: { export: entry, input: "text" as const } };
	const opened = openWasm(await aPlugin(name, { exports, ...code }), aHost(host));
	const input = { name: "tool", arguments: { text } };
	return opened.call({ op: "tool.call", input, call: "call-1", timeoutMs: timeoutMs ?? 5000 });
};
const withKv: Partial<PluginCode> = { hostFunctions: ["log", "now", "random", "kv"] };
const resultOf = (outcome: CallOutcome): HostResult => {
	if (!outcome.ok) throw new Error(`${outcome.error.code}: ${outcome.error.message}`);
	const { content } = outcome.output as { content: { text: string }[] };
	return JSON.parse(content[0]?.text ?? "");
};

describe("host functions of a WebAssembly plugin", () => {
	it("reach the host with checked arguments, and give back what it answers", async () => {
		const asked: unknown[] = [];
		const host: Partial<HostPort> = {
			callBlocking: (name, args, timeoutMs) => {
				asked.push({ name, args, timed: timeoutMs > 0 && timeoutMs <= 2000 });
				return { ok: true, value: { value: "ä", version: 1 } };
			},
		};
		const outcome = await ask("asks", "kv", '{"op":"get","key":"k"}', { code: withKv, host });
		expect(resultOf(outcome)).toEqual({ ok: true, value: { value: "ä", version: 1 } });
		expect(asked).toEqual([{ name: "kv", args: { op: "get", key: "k" }, timed: true }]);
	});

	it("give a failure of the host as a value", async () => {
		const host: Partial<HostPort> = {
			callBlocking: () => ({ ok: false, failure: { code: "not_found", message: "no" } }),
		};
		expect(resultOf(await ask("asks", "kv", '{"op":"get","key":"k"}', { code: withKv, host }))).toMatchObject({
			ok: false,
			failure: { code: "not_found" },
		});
	});

	it.each([
		["no JSON", "{"],
		["another shape", '{"op":"drop"}'],
		["an unknown key", '{"op":"get","key":"k","as":"root"}'],
		["a list", "[]"],
		["too deep", `{"op":"set","key":"k","value":${"[".repeat(40_000)}${"]".repeat(40_000)}}`],
	])("answer invalid_input to arguments of %s, and the host is not asked", async (_name, text) => {
		let asked = 0;
		const host: Partial<HostPort> = {
			callBlocking: () => {
				asked += 1;
				return { ok: true, value: {} };
			},
		};
		expect(resultOf(await ask("asks", "kv", text, { code: withKv, host }))).toMatchObject({
			failure: { code: "invalid_input" },
		});
		expect(asked).toBe(0);
	});

	it("answer invalid_input to arguments that are too large", async () => {
		const limits = { ...smallLimits, memoryBytes: 8_388_608, outputBytes: 8_388_608 };
		const text = JSON.stringify({ op: "set", key: "k", value: "x".repeat(1_048_576) });
		expect(resultOf(await ask("asks", "kv", text, { code: { ...withKv, limits } }))).toMatchObject({
			failure: { code: "invalid_input" },
		});
	});

	it("end the call when the host's answer does not fit into its blocks", async () => {
		const host: Partial<HostPort> = { callBlocking: () => ({ ok: true, value: { value: "x".repeat(2_000_000) } }) };
		expect(await ask("asks", "kv", '{"op":"get","key":"k"}', { code: withKv, host })).toMatchObject({
			error: { code: "plugin.limit" },
		});
	});

	it("can be used a thousand times in one call", async () => {
		let asked = 0;
		const host: Partial<HostPort> = {
			callBlocking: () => {
				asked += 1;
				return { ok: true, value: {} };
			},
		};
		const limits = { ...smallLimits, cpuMs: 2000 };
		const outcome = await ask("asks", "kv_often", '{"op":"list"}', { code: { ...withKv, limits }, host });
		expect(resultOf(outcome)).toMatchObject({ failure: { code: "rate_limited" } });
		expect(asked).toBe(1000);
	});

	it("answer unauthorized without a grant, naming the command, and the call lists the permission", async () => {
		let asked = 0;
		const host: Partial<HostPort> = {
			callBlocking: () => {
				asked += 1;
				return { ok: true, value: {} };
			},
		};
		const outcome = await ask("asks", "kv", '{"op":"list"}', { code: { ungranted: { kv: "kv" } }, host });
		expect(resultOf(outcome)).toMatchObject({
			failure: { code: "unauthorized", message: expect.stringContaining("mortise grant hostile.asks kv") },
		});
		expect(outcome.refused).toEqual(["kv"]);
		expect(asked).toBe(0);
	});

	it("are not there at all when the manifest did not ask", async () => {
		const code = await aPlugin("asks", withKv);
		const opened = openWasm({ ...code, hostFunctions: ["log", "now", "random"] }, aHost());
		const input = { name: "tool", arguments: {} };
		expect(await opened.call({ op: "tool.call", input, call: "call-1", timeoutMs: 1000 })).toMatchObject({
			error: { code: "plugin.link" },
		});
	});

	it("tell the time and give random bytes inside the worker", async () => {
		const now = resultOf(await ask("asks", "now", "", { code: withKv }));
		expect(now).toMatchObject({ ok: true, value: { ms: expect.any(Number) } });
		const random = resultOf(await ask("asks", "random", '{"bytes":8}', { code: withKv }));
		expect(random).toMatchObject({ ok: true, value: { base64: expect.stringMatching(/^.{12}$/) } });
		const again = resultOf(await ask("asks", "random", '{"bytes":8}', { code: withKv }));
		expect(again).not.toEqual(random);
		expect(resultOf(await ask("asks", "random", '{"bytes":5000}', { code: withKv }))).toMatchObject({ ok: false });
	});

	it("log without waiting, in order, with fields", async () => {
		const logged: unknown[] = [];
		const host: Partial<HostPort> = {
			call: (name, args) => {
				logged.push([name, args]);
				return new Promise(() => undefined);
			},
		};
		const entry = { level: "error", message: "gone", fields: { city: "Bonn" } };
		expect(resultOf(await ask("asks", "log", JSON.stringify(entry), { code: withKv, host }))).toEqual({
			ok: true,
			value: {},
		});
		expect(logged).toEqual([["log", entry]]);
	});

	it("leave the time spent waiting out of the cpu budget", async () => {
		const cell = new Int32Array(new SharedArrayBuffer(4));
		const host: Partial<HostPort> = {
			callBlocking: () => {
				Atomics.wait(cell, 0, 0, 500);
				return { ok: true, value: {} };
			},
		};
		expect(await ask("asks", "kv", '{"op":"list"}', { code: withKv, host })).toMatchObject({ ok: true });
	});

	it("hold a plugin's own work against its cpu budget between waits", async () => {
		const outcome = await ask("asks", "kv_and_work", '{"op":"list"}', { code: withKv });
		expect(outcome).toMatchObject({ error: { code: "plugin.cpu_limit" } });
		expect(outcome.ms).toBeLessThan(10_000);
	});

	it("end with the call's deadline, be it in a wait or in an endless loop beside it", async () => {
		const cell = new Int32Array(new SharedArrayBuffer(4));
		const limits = { ...smallLimits, timeoutMs: 150 };
		const host: Partial<HostPort> = {
			callBlocking: () => {
				Atomics.wait(cell, 0, 0);
				return { ok: true, value: {} };
			},
		};
		for (const entry of ["kv", "spin"]) {
			const outcome = await ask("asks", entry, '{"op":"list"}', { code: { ...withKv, limits }, host });
			expect(outcome).toMatchObject({ ok: false, error: { code: "plugin.timeout" } });
			expect(outcome.ms).toBeLessThan(10_000);
		}
	});
});

describe("Extism's own http_request", () => {
	const request = JSON.stringify({ url: "https://api.acme.test/", headers: { accept: "text/plain" } });

	it("goes the way of host.http when that is granted", async () => {
		let seen: unknown;
		const host: Partial<HostPort> = {
			callBlocking: (_name, args) => {
				seen = args;
				return { ok: true, value: { status: 200, headers: [["X-Day", "1"]], body: { text: "sunny" } } };
			},
		};
		const outcome = await ask("requests", "get", request, {
			code: { hostFunctions: ["log", "now", "random", "http"] },
			host,
		});
		expect(outcome).toMatchObject({ ok: true, output: { content: [{ text: "sunny" }] } });
		expect(seen).toEqual({ method: "GET", url: "https://api.acme.test/", headers: [["accept", "text/plain"]] });
	});

	it("ends the call as plugin.unauthorized without a grant, and as plugin.not_asked when never asked for", async () => {
		const ungranted = await ask("requests", "get", request, { code: { ungranted: { http: "http:api.acme.test" } } });
		expect(ungranted).toMatchObject({
			error: { code: "plugin.unauthorized", next: "Run: mortise grant hostile.requests http:api.acme.test" },
			refused: ["http:api.acme.test"],
		});
		expect(await ask("requests", "get", request)).toMatchObject({ error: { code: "plugin.not_asked" } });
	});

	it("ends the call with the host's own failure, or for a request that is none", async () => {
		const code: Partial<PluginCode> = { hostFunctions: ["log", "now", "random", "http"] };
		const host: Partial<HostPort> = {
			callBlocking: () => ({ ok: false, failure: { code: "unavailable", message: "no route" } }),
		};
		expect(await ask("requests", "get", request, { code, host })).toMatchObject({
			error: { code: "plugin.failed" },
			failure: { code: "unavailable" },
			retryable: true,
		});
		for (const text of ["", "null", '{"url":5}', '{"url":"https://a.test","method":"GE T"}']) {
			expect(await ask("requests", "get", text, { code })).toMatchObject({ failure: { code: "invalid_input" } });
		}
	});
});

describe("the kernel of one call", () => {
	const aKernel = async (input: Uint8Array) => {
		const code = await aPlugin("answers");
		const state = createCallState({
			code,
			host: aHost(),
			call: { op: "tool.call", input: {}, call: "call-1", timeoutMs: 1000 },
			deadline: performance.now() + 1000,
			timeoutMs: 1000,
		});
		return { state, kernel: createKernel(state, input, {}) };
	};

	it("never lets a guest write into a buffer of the host", async () => {
		const input = new TextEncoder().encode("keep me");
		const { kernel } = await aKernel(input);
		const address = kernel.functions.input_offset(0n, 0n) as bigint;
		kernel.functions.store_u8(address, 0n);
		expect(new TextDecoder().decode(input)).toBe("keep me");
		kernel.functions.output_set(address, 7n);
		const output = kernel.output();
		kernel.functions.store_u8(address, 65n);
		expect(output?.[0]).toBe(0);
	});

	it("counts what a block weighs besides its bytes, so that empty ones are bounded too", async () => {
		const { state } = await aKernel(new Uint8Array());
		let count = 0;
		expect(() => {
			for (;;) {
				state.blocks.allocate(0n);
				count += 1;
			}
		}).toThrow(HostError);
		expect(count).toBeLessThanOrEqual(smallLimits.memoryBytes / 256);
	});

	it("throws nothing but typed errors for any address or size", async () => {
		const { kernel } = await aKernel(new Uint8Array(8));
		const block = kernel.functions.alloc(16n, 0n) as bigint;
		const { http_request: _, ...functions } = kernel.functions;
		const odd = [
			0n,
			1n,
			-1n,
			7n,
			block,
			block + 16n,
			block - 1n,
			block | (1n << 63n),
			2n ** 32n,
			2n ** 48n,
			-(2n ** 63n),
			2n ** 63n - 1n,
		];
		for (const run of Object.values(functions)) {
			for (const first of odd) {
				for (const second of odd) {
					try {
						run(first, second);
					} catch (error) {
						expect(error).toBeInstanceOf(HostError);
					}
				}
			}
		}
	});
});
