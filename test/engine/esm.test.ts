import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openEsm } from "../../src/engine/esm/esm.js";
import { aHost, aPlugin, aTool, callTool, textOrCode } from "./esm-builders.js";

/** What a body leaves in `text`, run as a tool. */
async function run(body: string): Promise<string> {
	return textOrCode(await callTool(aTool(body)));
}

describe("an ES-module plugin", () => {
	it("gets the envelope of the door: operation, input, call id, time left, agent and settings", async () => {
		const code = aTool("text = JSON.stringify(envelope)", { config: { units: "metric" } });
		const outcome = await callTool(code, { agent: "helper" });
		expect(JSON.parse(textOrCode(outcome))).toEqual({
			v: 1,
			op: "tool.call",
			input: { name: "test", arguments: {} },
			ctx: { call: "call-1", agent: "helper", config: { units: "metric" }, deadlineMs: expect.any(Number) },
		});
	});

	it("reports its own failure with code and wait", async () => {
		const failure = { code: "rate_limited", message: "slow down", retryable: true, retryAfterMs: 1200 };
		const code = aPlugin(`export default { handle: () => ({ ok: false, failure: ${JSON.stringify(failure)} }) }`);
		expect(await callTool(code)).toMatchObject({
			ok: false,
			retryable: true,
			retryAfterMs: 1200,
			error: { code: "plugin.failed", owner: "plugin" },
		});
	});

	it("may import its own files, here and there and at run time", async () => {
		const code = aPlugin("", {
			sources: {
				"plugin.js": `import { b } from "./lib/b.js";
					export default { async handle() {
						const { c } = await import("./lib/../c.mjs");
						return { ok: true, output: { content: [{ type: "text", text: b + c }] } };
					} };`,
				"lib/b.js": `import { c } from "../c.mjs"; export const b = "b" + c;`,
				"c.mjs": `export const c = "c";`,
			},
		});
		expect(textOrCode(await callTool(code))).toBe("bcc");
	});

	it("may await at top level", async () => {
		const code = aPlugin(`const text = await new Promise((resolve) => setTimeout(() => resolve("ready"), 3));
			export default { handle: () => ({ ok: true, output: { content: [{ type: "text", text }] } }) };`);
		expect(textOrCode(await callTool(code))).toBe("ready");
	});

	it.each([
		["a number", "export default 3"],
		["nothing", "export const x = 1"],
		["null", "export default null"],
		["an object without it", "export default { handler() {} }"],
	])("is refused with plugin.no_handler when it exports %s", async (_, source) => {
		expect(await callTool(aPlugin(source))).toMatchObject({ error: { code: "plugin.no_handler", owner: "author" } });
	});

	it("is refused with file, line and column when it cannot be parsed", async () => {
		const code = aPlugin("", { sources: { "plugin.js": 'import "./lib/b.js"', "lib/b.js": "\n\nlet x = ;" } });
		const outcome = await callTool(code);
		expect(outcome).toMatchObject({ error: { code: "plugin.syntax", owner: "author" } });
		expect(outcome.ok ? "" : outcome.error.message).toContain("lib/b.js:3:");
	});

	it("is refused with plugin.syntax when an import names no export, and not when it parses wrong data", async () => {
		const missing = { "plugin.js": 'import { q } from "./b.js"', "b.js": "" };
		expect(textOrCode(await callTool(aPlugin("", { sources: missing })))).toBe("plugin.syntax");
		expect(textOrCode(await callTool(aPlugin('JSON.parse("{")')))).toBe("plugin.threw");
	});

	it("is not opened from a source that holds a NUL, of which the engine would run the beginning only", async () => {
		const code = aPlugin("export default { handle: () => ({ ok: true, output: { content: [] } }) };\0 nonsense");
		expect(textOrCode(await callTool(code))).toBe("plugin.import_refused");
	});

	it("ends as plugin.cancelled when the caller withdraws: before, while it waits, and with its host calls aborted", async () => {
		expect(textOrCode(await callTool(aTool(""), { signal: AbortSignal.abort() }))).toBe("plugin.cancelled");
		const controller = new AbortController();
		const host = aHost(() => {
			controller.abort();
			return new Promise(() => {});
		});
		const code = aTool('await host.kv({ op: "get", key: "k" })', { hostFunctions: ["kv"] });
		expect(textOrCode(await callTool(code, { host: host.port, signal: controller.signal }))).toBe("plugin.cancelled");
		expect(host.calls[0]?.signal.aborted).toBe(true);
	});

	it("holds to the shorter of its own and the caller's deadline", async () => {
		const code = aTool("await new Promise((resolve) => setTimeout(resolve, 60000))");
		const outcome = await callTool(code, { timeoutMs: 50 });
		expect(textOrCode(outcome)).toBe("plugin.timeout");
		expect(outcome.ms).toBeLessThan(10_000);
	});

	it("draws other random numbers in each call", async () => {
		const code = aTool("text = String(Math.random())");
		const drawn = await Promise.all(Array.from({ length: 20 }, () => callTool(code)));
		expect(new Set(drawn.map(textOrCode)).size).toBe(20);
	});

	it("is held to a limit under 16 MiB, too", async () => {
		const grab =
			"const all = []; try { for (;;) all.push(new Uint8Array(1 << 18)); } catch {} text = String(all.length / 4)";
		const got = async (mebibytes: number) =>
			Number(textOrCode(await callTool(aTool(grab, { limits: { memoryBytes: mebibytes * 2 ** 20 } }))));
		expect(await got(8)).toBeLessThan(3);
		expect(await got(32)).toBeGreaterThan(15);
		expect(await got(32)).toBeLessThan(28);
	});

	it("names the limit, not the answer, when there is no room to write the answer down", async () => {
		const limits = { memoryBytes: 16 * 2 ** 20, outputBytes: 2 ** 30 };
		expect(textOrCode(await callTool(aTool('text = "x".repeat(6e6)', { limits })))).toBe("plugin.memory_limit");
		const deep = "let nested = []; for (let i = 0; i < 50000; i++) nested = [nested]; return nested;";
		expect(textOrCode(await callTool(aTool(deep)))).toBe("plugin.stack_limit");
	});

	it("is not opened here when it is WebAssembly", () => {
		const wasm = { ...aPlugin(""), body: { profile: "wasm", module: {} as WebAssembly.Module, wasi: false } } as const;
		expect(() => openEsm(wasm, aHost().port)).toThrow(expect.objectContaining({ code: "host.internal" }));
	});
});

describe("the host object of an ES-module plugin", () => {
	it("holds what is granted, a stub for what was asked for, and nothing else; it is frozen", async () => {
		const body = `host.extra = 1; text = [Object.keys(host).sort().join(), Object.isFrozen(host)].join()`;
		const lenient = body.replace("host.extra = 1;", "try { host.extra = 1 } catch {}");
		const code = aTool(lenient, { hostFunctions: ["log", "kv"], ungranted: { http: "http:a.test" } });
		expect(textOrCode(await callTool(code))).toBe("http,kv,log,true");
	});

	it("answers now and random without asking the host", async () => {
		const host = aHost();
		const code = aTool(
			"text = JSON.stringify([(await host.now()).ms, (await host.random({ bytes: 12 })).base64.length])",
		);
		const before = Date.now();
		const [ms, length] = JSON.parse(textOrCode(await callTool(code, { host: host.port })));
		expect(ms).toBeGreaterThanOrEqual(before);
		expect(length).toBe(16);
		expect(host.calls).toEqual([]);
	});

	it("passes arguments and results on as JSON, checked on both ways", async () => {
		const host = aHost(async (_name, args) => ({ ok: true, value: { value: args as object, version: 2 } }));
		const code = aTool('text = JSON.stringify(await host.kv({ op: "set", key: "ä\\ud800", value: [1, null] }))', {
			hostFunctions: ["kv"],
		});
		const text = textOrCode(await callTool(code, { host: host.port }));
		expect(JSON.parse(text)).toEqual({ value: { op: "set", key: "ä\ud800", value: [1, null] }, version: 2 });
		const wrong = aHost(async () => ({ ok: true, value: { nonsense: true } }));
		const caught = aTool('text = await host.kv({ op: "get", key: "k" }).catch((error) => error.code)', {
			hostFunctions: ["kv"],
		});
		expect(textOrCode(await callTool(caught, { host: wrong.port }))).toBe("internal");
	});

	it("rejects with the failure's code, message and wait", async () => {
		const failure = { code: "unavailable", message: "later", retryable: true, retryAfterMs: 7 } as const;
		const host = aHost(async () => ({ ok: false, failure }));
		const code = aTool(
			`await host.kv({ op: "list" }).catch(({ code, message, retryable, retryAfterMs, stack }) => {
				text = JSON.stringify({ code, message, retryable, retryAfterMs });
			})`,
			{ hostFunctions: ["kv"] },
		);
		expect(JSON.parse(textOrCode(await callTool(code, { host: host.port })))).toEqual(failure);
	});

	it.each([
		["an unknown member", '{ op: "get", key: "k", extra: 1 }'],
		["a wrong type", '{ op: "get", key: 7 }'],
		["no JSON at all", "(() => { const o = {}; o.o = o; return o; })()"],
		[
			"too deep a nesting",
			'{ op: "set", key: "k", value: (() => { let v = 1; for (let i = 0; i < 500; i++) v = [v]; return v; })() }',
		],
	])("refuses %s as arguments, and the host is not asked", async (name, args) => {
		const host = aHost();
		const code = aTool(`text = await host.kv(${args}).then(() => "went through", (error) => error.code)`, {
			hostFunctions: ["kv"],
		});
		const text = textOrCode(await callTool(code, { host: host.port }));
		if (name === "too deep a nesting") expect(text).toMatch(/^(invalid_input|went through)$/);
		else {
			expect(text).toBe("invalid_input");
			expect(host.calls).toEqual([]);
		}
	});

	it("lets other calls of the thread go on while one waits", async () => {
		let answer: (result: { ok: true; value: object }) => void = () => {};
		const host = aHost(() => new Promise((resolve) => (answer = resolve)));
		const waiting = callTool(aTool('await host.kv({ op: "list" }); text = "answered"', { hostFunctions: ["kv"] }), {
			host: host.port,
		});
		expect(textOrCode(await callTool(aTool('text = "other"')))).toBe("other");
		while (host.calls.length === 0) await delay(1);
		answer({ ok: true, value: {} });
		expect(textOrCode(await waiting)).toBe("answered");
	});

	it("logs without waiting for the host, also when the plugin answers at once", async () => {
		const host = aHost();
		await callTool(aTool('host.log({ level: "info", message: "hi", fields: { a: 1 } }); console.warn("w", { b: 2 })'), {
			host: host.port,
		});
		expect(host.logs()).toEqual([
			{ level: "info", message: "hi", fields: { a: 1 } },
			{ level: "warn", message: 'w {"b":2}' },
		]);
	});
});

describe("the globals of an ES-module plugin", () => {
	it("decode UTF-8 as Node does, whatever the bytes", async () => {
		let state = 12345;
		const next = () => {
			state = (state * 1103515245 + 12345) & 0x7fffffff;
			return state >> 8;
		};
		const pool = [
			0x41, 0xc3, 0xa4, 0xe2, 0x82, 0xac, 0xf0, 0x9f, 0x98, 0x80, 0xed, 0xa0, 0xff, 0xc0, 0xf4, 0x90, 0xef, 0xbb, 0xbf,
		];
		const samples = Array.from({ length: 400 }, () =>
			Array.from({ length: next() % 9 }, () => pool[next() % pool.length] ?? 0),
		);
		const text = await run(`text = JSON.stringify(${JSON.stringify(samples)}.map((bytes) => {
			const input = new Uint8Array(bytes);
			let fatal; try { fatal = new TextDecoder("utf-8", { fatal: true }).decode(input); } catch (error) { fatal = error.name; }
			const decoder = new TextDecoder();
			const streamed = bytes.map((byte) => decoder.decode(new Uint8Array([byte]), { stream: true })).join("") + decoder.decode();
			return [new TextDecoder().decode(input), fatal, streamed];
		}))`);
		const expected = samples.map((bytes) => {
			const input = Uint8Array.from(bytes);
			let fatal: string;
			try {
				fatal = new TextDecoder("utf-8", { fatal: true }).decode(input);
			} catch (error) {
				fatal = error instanceof Error ? error.name : "";
			}
			const decoded = new TextDecoder().decode(input);
			return [decoded, fatal, decoded];
		});
		expect(JSON.parse(text)).toEqual(expected);
	});

	it("encode UTF-8, lone surrogates replaced, and never half a character", async () => {
		const text = await run(`text = JSON.stringify([
			[...new TextEncoder().encode("aä€😀\\ud800x")],
			new TextEncoder().encodeInto("€€", new Uint8Array(4)),
			[...new TextEncoder().encode()],
		])`);
		expect(JSON.parse(text)).toEqual([[...new TextEncoder().encode("aä€😀\ufffdx")], { read: 1, written: 3 }, []]);
	});

	it("take base64 apart and together as Node does", async () => {
		const inputs = ["", "a", "ab", "abc", "\u00ff\u0000\u0080x"];
		const encoded = ["", "YQ==", "YQ", " Y W I = ", "YWJj", "Y", "YQ=", "Y=Q=", "YQ===", "*"];
		const text = await run(`const safe = (run) => { try { return run(); } catch (error) { return error.name; } };
			text = JSON.stringify([${JSON.stringify(inputs)}.map(btoa), ${JSON.stringify(encoded)}.map((e) => safe(() => atob(e))), safe(() => btoa("€"))])`);
		const safe = (take: () => string) => {
			try {
				return take();
			} catch (error) {
				return error instanceof Error || error instanceof DOMException ? error.name : "";
			}
		};
		expect(JSON.parse(text)).toEqual([
			inputs.map((each) => btoa(each)),
			encoded.map((each) => safe(() => atob(each))),
			"InvalidCharacterError",
		]);
	});

	it("clone data with cycles, dates, maps, sets and buffers, and refuse functions", async () => {
		const text =
			await run(`const value = { date: new Date(5), map: new Map([[1, new Set([2])]]), bytes: new Uint16Array([1, 2]), error: new TypeError("t") };
			value.self = value;
			const copy = structuredClone(value);
			let refused; try { structuredClone(() => {}); } catch (error) { refused = error.name; }
			text = JSON.stringify([copy !== value, copy.self === copy, copy.date.getTime(), [...copy.map.get(1)], [...copy.bytes],
				copy.error instanceof TypeError, Object.getPrototypeOf(structuredClone(JSON.parse('{"__proto__":{"a":1}}'))) === Object.prototype, refused])`);
		expect(JSON.parse(text)).toEqual([true, true, 5, [2], [1, 2], true, true, "DataCloneError"]);
	});

	it("run timers in the order they are due, pass arguments, and forget a cleared one", async () => {
		const text = await run(`const seen = [];
			setTimeout((x) => seen.push(x), 60, "late"); setTimeout((x) => seen.push(x), 1, "early");
			clearTimeout(setTimeout(() => seen.push("cleared"), 2)); queueMicrotask(() => seen.push("micro"));
			await new Promise((resolve) => setTimeout(resolve, 90)); text = seen.join()`);
		expect(text).toBe("micro,early,late");
	});

	it("draw evenly from Math.random", async () => {
		const text = await run(`const buckets = Array(10).fill(0); let low = 1, high = 0;
			for (let i = 0; i < 20000; i++) { const x = Math.random(); buckets[Math.floor(x * 10)]++; low = Math.min(low, x); high = Math.max(high, x); }
			text = JSON.stringify([Math.min(...buckets), Math.max(...buckets), low >= 0 && high < 1])`);
		const [least, most, inRange] = JSON.parse(text);
		expect(least).toBeGreaterThan(1800);
		expect(most).toBeLessThan(2200);
		expect(inRange).toBe(true);
	});
});
