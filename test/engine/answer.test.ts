import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseAnswer, readAnswer } from "../../src/engine/answer.js";

const tool = (output: unknown) => readAnswer({ ok: true, output }, "tool.call");

describe("readAnswer", () => {
	it("gives the output of an answer that fits its operation", () => {
		expect(tool({ content: [{ type: "text", text: "hi" }] })).toEqual({
			ok: true,
			output: { content: [{ type: "text", text: "hi" }] },
		});
	});

	it.each([
		["nothing", undefined],
		["an output of another shape", { ok: true, output: { content: "text" } }],
		["an unknown key", { ok: true, output: { content: [] }, more: 1 }],
		["an unknown failure code", { ok: false, failure: { code: "bored", message: "" } }],
		["a list", []],
	])("refuses %s as plugin.bad_answer", (_name, raw) => {
		expect(readAnswer(raw, "tool.call")).toMatchObject({
			ok: false,
			error: { code: "plugin.bad_answer", owner: "plugin" },
			retryable: false,
		});
	});

	it("keeps a plugin's own failure, and whether trying again may help", () => {
		const failure = { code: "rate_limited", message: "slow down", retryAfterMs: 50 };
		expect(readAnswer({ ok: false, failure }, "tool.call")).toMatchObject({
			ok: false,
			error: { code: "plugin.failed", owner: "plugin", message: expect.stringMatching(/^rate_limited: /) },
			retryable: true,
			retryAfterMs: 50,
			failure,
		});
		const answer = readAnswer({ ok: false, failure: { code: "internal", message: "x" } }, "tool.call");
		expect(answer).toMatchObject({ retryable: false });
		expect(answer).not.toHaveProperty("retryAfterMs");
	});

	it("shows at most 2000 characters of a plugin's message, with what is invisible escaped", () => {
		const answer = readAnswer(
			{ ok: false, failure: { code: "internal", message: `\u001b${"x".repeat(9000)}` } },
			"tool.call",
		);
		if (answer.ok) throw new Error("it failed");
		expect(answer.error.message.length).toBeLessThan(2100);
		expect(answer.error.message).not.toContain("\u001b");
	});

	it("knows the operations of the contract only", () => {
		for (const op of ["tool.run", "constructor", "__proto__"]) {
			expect(readAnswer({ ok: true, output: {} }, op)).toMatchObject({ error: { code: "engine.unknown_operation" } });
		}
	});

	it("never throws, whatever it is given", () => {
		fc.assert(
			fc.property(fc.anything({ withBigInt: true, withMap: true }), (raw) => void readAnswer(raw, "tool.call")),
		);
	});
});

describe("parseAnswer", () => {
	it("reads bytes and text alike", () => {
		const text = '{"ok":true,"output":{"content":[]}}';
		for (const raw of [text, new TextEncoder().encode(text)]) {
			expect(parseAnswer(raw, "tool.call", 100)).toEqual({ ok: true, output: { content: [] } });
		}
	});

	it("counts bytes, not characters, against the limit", () => {
		const text = `{"ok":true,"output":{"content":[{"type":"text","text":"${"ä".repeat(20)}"}]}}`;
		const bytes = Buffer.byteLength(text);
		expect(parseAnswer(text, "tool.call", bytes)).toMatchObject({ ok: true });
		expect(parseAnswer(text, "tool.call", bytes - 1)).toMatchObject({ error: { code: "plugin.output_too_large" } });
	});

	it("refuses what is no JSON, no UTF-8, or nested past what can be checked", () => {
		const deep = `{"ok":true,"output":{"content":[],"structured":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`;
		const broken = Buffer.from('{"ok":true,"output":{"content":[{"type":"text","text":"?"}]}}');
		broken[broken.indexOf("?")] = 0xff;
		for (const raw of [broken, "", '{"ok":tr', Uint8Array.of(0x22, 0xff, 0x22), deep]) {
			expect(parseAnswer(raw, "tool.call", 1_000_000)).toMatchObject({ error: { code: "plugin.bad_answer" } });
		}
	});
});
