import { type ChatInput, type EmitEvent, text } from "@mortise/sdk";
import { createTestHost, type ScriptedResponse } from "@mortise/sdk/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openBundle } from "./open.js";

const input: ChatInput = { model: "m", messages: [{ role: "user", content: text("hi") }], tools: [], options: {} };
const stream = { "content-type": "text/event-stream; charset=utf-8" };
const event = (chunk: unknown): string => `data: ${typeof chunk === "string" ? chunk : JSON.stringify(chunk)}\n\n`;
const delta = (part: object, finish: string | null = null) => ({ choices: [{ delta: part, finish_reason: finish }] });

async function watch(response: ScriptedResponse, config = {}) {
	const { host, requests } = createTestHost({ http: [response] });
	const pieces: EmitEvent[] = [];
	const opened = await openBundle("openai-compatible", host, config);
	const outcome = await opened.outcome("provider.chat", input, { onEmit: (piece) => pieces.push(piece) });
	const body = requests[0]?.body;
	const asked: unknown = JSON.parse(body !== undefined && "text" in body ? body.text : "null");
	return { outcome, pieces, asked };
}

const whole = [
	event(delta({ role: "assistant", content: "" })),
	event(delta({ reasoning_content: "Hm." })),
	event(delta({ content: "Grüße, " })),
	": a comment that keeps the line open\n\n",
	event(delta({ content: "世界! 🌍" })),
	event(delta({}, "stop")),
	event({
		choices: [],
		usage: { prompt_tokens: 5, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 2 } },
	}),
	event("[DONE]"),
].join("");

describe("openai-compatible while somebody watches", () => {
	it("asks for a stream with its usage, emits every piece, and answers with the whole", async () => {
		const { outcome, pieces, asked } = await watch({ headers: stream, chunks: [whole] });
		expect(asked).toMatchObject({ stream: true, stream_options: { include_usage: true } });
		expect(outcome).toMatchObject({
			ok: true,
			output: {
				content: text("Grüße, 世界! 🌍"),
				toolCalls: [],
				reasoning: "Hm.",
				usage: { input: 5, output: 3, cachedInput: 2 },
				stop: "end",
			},
		});
		expect(pieces).toEqual([
			{ type: "reasoning", text: "Hm." },
			{ type: "delta", text: "Grüße, " },
			{ type: "delta", text: "世界! 🌍" },
		]);
	});

	it.each(["\r\n", "\r"])("reads events whose lines end in %j", async (end) => {
		const chunks = [...whole.replaceAll("\n", end)];
		expect((await watch({ headers: stream, chunks })).outcome).toMatchObject({
			ok: true,
			output: { content: text("Grüße, 世界! 🌍") },
		});
	});

	it("reads the same wherever the stream is cut", async () => {
		const opened = async (chunks: readonly string[]) => (await watch({ headers: stream, chunks })).outcome;
		const expected = await opened([whole]);
		const { ms: _ms, ...rest } = expected;
		await fc.assert(
			fc.asyncProperty(fc.array(fc.integer({ min: 0, max: whole.length }), { maxLength: 8 }), async (cuts) => {
				const edges = [0, ...cuts.sort((a, b) => a - b), whole.length];
				const chunks = edges.slice(1).map((end, index) => whole.slice(edges[index], end));
				expect(await opened(chunks)).toMatchObject(rest);
			}),
			{ numRuns: 25 },
		);
	});

	it("puts the calls of tools together from their pieces, by index", async () => {
		const call = (index: number, part: object) => delta({ tool_calls: [{ index, ...part }] });
		const chunks = [
			event(call(0, { id: "call_a", function: { name: "weather", arguments: '{"ci' } })),
			event(call(1, { id: "call_b", function: { name: "clock", arguments: "" } })),
			event(call(0, { function: { arguments: 'ty":"Zürich"}' } })),
			event(delta({}, "tool_calls")),
			event("[DONE]"),
		];
		const { outcome, pieces } = await watch({ headers: stream, chunks });
		expect(outcome).toMatchObject({
			ok: true,
			output: {
				toolCalls: [
					{ id: "call_a", name: "weather", arguments: { city: "Zürich" } },
					{ id: "call_b", name: "clock", arguments: {} },
				],
				stop: "tool",
			},
		});
		expect(pieces.map((piece) => (piece.type === "tool-call" ? [piece.id, piece.argumentsText] : piece.type))).toEqual([
			["call_a", '{"ci'],
			["call_b", ""],
			["call_a", 'ty":"Zürich"}'],
		]);
	});

	it.each<[string, ScriptedResponse, object]>([
		["is cut", { headers: stream, chunks: [event(delta({ content: "half" }))] }, { retryable: true }],
		[
			"breaks off",
			{
				headers: stream,
				chunks: [event(delta({ content: "half" }))],
				cut: { code: "unavailable", message: "reset", retryable: true },
			},
			{ retryable: true },
		],
		["holds what is no JSON", { headers: stream, chunks: [event("{oops")] }, { retryable: true }],
		[
			"holds the server's error",
			{
				headers: stream,
				chunks: [event(delta({ content: "a" })), event({ error: { message: "overloaded", code: 503 } })],
			},
			{ retryable: true },
		],
		["says nothing at all", { headers: stream, chunks: [event(delta({}, "stop")), event("[DONE]")] }, {}],
	])("fails with unavailable when the stream %s", async (_what, response, more) => {
		const { outcome } = await watch(response);
		expect(outcome).toMatchObject({ ok: false, failure: { code: "unavailable" }, ...more });
	});

	it("takes a stream without [DONE] whose answer has ended", async () => {
		const chunks = [event(delta({ content: "done" })), event(delta({}, "stop"))];
		expect((await watch({ headers: stream, chunks })).outcome).toMatchObject({ ok: true });
	});

	it.each<[string, ScriptedResponse, string]>([
		["429", { status: 429, headers: { "retry-after": "7" }, json: { error: { message: "slower" } } }, "rate_limited"],
		["401", { status: 401, json: { error: { message: "no such key" } } }, "unauthorized"],
	])("maps status %s as without a stream", async (_status, response, code) => {
		expect((await watch(response)).outcome).toMatchObject({ ok: false, failure: { code } });
	});

	it("takes the answer of a server that does not stream, as one piece", async () => {
		const { outcome, pieces } = await watch({ json: { choices: [{ message: { content: "Hi." } }] } });
		expect(outcome).toMatchObject({ ok: true, output: { content: text("Hi.") } });
		expect(pieces).toEqual([{ type: "delta", text: "Hi." }]);
	});

	it("asks for no stream when the settings say so", async () => {
		const { asked, pieces } = await watch({ json: { choices: [{ message: { content: "Hi." } }] } }, { stream: false });
		expect(asked).toMatchObject({ stream: false });
		expect(pieces).toEqual([]);
	});
});
