import type { EmitEvent, HostFunction } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import type { PluginCall } from "../../src/contract/index.js";
import { createEmitter, maxEmitted } from "../../src/engine/emitter.js";
import { openWasm } from "../../src/engine/wasm/wasm.js";
import { aHost as aWasmHost, aPlugin as aWasmPlugin } from "../hostile/wasm/build.js";
import { aHost, aTool, callTool, textOrCode } from "./esm-builders.js";

const emits: readonly HostFunction[] = ["log", "now", "random", "emit"];
const call: PluginCall = { op: "provider.chat", input: {}, call: "call-1", timeoutMs: 1000 };
const delta = (text: string): EmitEvent => ({ type: "delta", text });

describe("host.emit of an ES-module plugin", () => {
	it("is absent while nobody watches", async () => {
		const code = aTool("text = Object.keys(host).join()", { hostFunctions: emits });
		expect(textOrCode(await callTool(code))).toBe("log,now,random");
		expect(textOrCode(await callTool(code, { onEmit: () => {} }))).toBe("log,now,random,emit");
	});

	it("is absent where it is not linked, watched or not", async () => {
		const code = aTool("text = String(host.emit)");
		expect(textOrCode(await callTool(code, { onEmit: () => {} }))).toBe("undefined");
	});

	it("gives a piece away while the plugin still waits for the host", async () => {
		const seen: EmitEvent[] = [];
		let isOut = () => {};
		const out = new Promise<void>((resolve) => {
			isOut = resolve;
		});
		// the host answers only once the first piece is out
		const { port } = aHost(async () => {
			await out;
			return { ok: true, value: {} };
		});
		const code = aTool(
			`await host.emit({ type: "delta", text: "first" });
			await host.kv({ op: "list" });
			await host.emit({ type: "reasoning", text: "second" });`,
			{ hostFunctions: [...emits, "kv"] },
		);
		const outcome = await callTool(code, {
			host: port,
			onEmit: (event) => {
				seen.push(event);
				isOut();
			},
		});
		expect(outcome.ok).toBe(true);
		expect(seen).toEqual([delta("first"), { type: "reasoning", text: "second" }]);
	});

	it("loses nothing that was emitted at the very end, nor of many pieces at once", async () => {
		const seen: EmitEvent[] = [];
		const code = aTool(`for (let i = 0; i < 500; i++) host.emit({ type: "delta", text: i + " " });`, {
			hostFunctions: emits,
		});
		await callTool(code, { onEmit: (event) => seen.push(event) });
		expect(seen).toEqual(Array.from({ length: 500 }, (_, index) => delta(`${index} `)));
	});

	it.each([
		["another type", `{ type: "inbound", text: "x" }`],
		["a number as text", `{ type: "delta", text: 3 }`],
		["an unknown member", `{ type: "delta", text: "x", secret: 1 }`],
	])("refuses %s", async (_what, event) => {
		const seen: EmitEvent[] = [];
		const code = aTool(`await host.emit(${event}).catch((error) => { text = error.code; });`, { hostFunctions: emits });
		expect(textOrCode(await callTool(code, { onEmit: (given) => seen.push(given) }))).toBe("invalid_input");
		expect(seen).toEqual([]);
	});
});

describe("host.emit of a WebAssembly plugin", () => {
	const ask = async (entry: string, event: unknown, onEmit?: (event: EmitEvent) => void) => {
		const code = await aWasmPlugin("emits", {
			hostFunctions: emits,
			exports: { tool: { export: entry, input: "text" } },
			limits: { memoryBytes: 1_048_576, cpuMs: 1000, timeoutMs: 2000, outputBytes: 200 },
		});
		const outcome = await openWasm(code, aWasmHost()).call({
			op: "tool.call",
			input: { name: "tool", arguments: { text: JSON.stringify(event) } },
			call: "call-1",
			timeoutMs: 2000,
			...(onEmit === undefined ? {} : { onEmit }),
		});
		if (!outcome.ok) throw new Error(outcome.error.message);
		return JSON.parse((outcome.output as { content: { text: string }[] }).content[0]?.text ?? "");
	};

	it("gives pieces away, and takes them for nothing while nobody watches", async () => {
		const seen: EmitEvent[] = [];
		expect(await ask("once", delta("é"), (event) => seen.push(event))).toEqual({ ok: true, value: {} });
		expect(seen).toEqual([delta("é")]);
		expect(await ask("once", delta("é"))).toEqual({ ok: true, value: {} });
	});

	it("refuses more than the bound, and passes none of it on", async () => {
		const seen: EmitEvent[] = [];
		const result = await ask("often", delta("01234567890123456789"), (event) => seen.push(event));
		expect(result).toMatchObject({ ok: false, failure: { code: "rate_limited" } });
		// four times the output limit of 200 bytes
		expect(seen).toHaveLength(40);
	});
});

describe("createEmitter", () => {
	it("bounds the number of pieces too", () => {
		let passed = 0;
		const emit = createEmitter({ ...call, onEmit: () => void passed++ }, aTool(""));
		for (let index = 0; index < maxEmitted; index += 1) emit(delta(""));
		expect(emit(delta(""))).toMatchObject({ ok: false, failure: { code: "rate_limited" } });
		expect(passed).toBe(maxEmitted);
	});
});
