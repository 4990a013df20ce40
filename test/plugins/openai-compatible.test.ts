import { type ChatInput, text } from "@mortise/sdk";
import type { Host } from "@mortise/sdk/contract";
import { type CallResult, createTestHost, type ScriptedResponse } from "@mortise/sdk/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChatServer, serverKey, startChatServer } from "./chat-server.js";
import { openBundle } from "./open.js";

const weather = {
	name: "weather",
	description: "The weather of a city.",
	input: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

function ask(question: string, more: Partial<ChatInput> = {}): ChatInput {
	return { model: "m", messages: [{ role: "user", content: text(question) }], tools: [], options: {}, ...more };
}

describe("openai-compatible against a real server", () => {
	let server: ChatServer;
	beforeAll(async () => {
		server = await startChatServer();
	});
	afterAll(() => server.close());

	/** A host whose http really goes out, and puts the key in at that point, as the broker does. */
	function liveHost(secrets: readonly string[] = ["OPENAI_API_KEY"]): Host {
		const { host } = createTestHost({ secrets });
		return {
			...host,
			async http({ method, url, headers = [], body }) {
				const filled = headers.map(([name, value]): [string, string] => [
					name,
					value.replace("{{secret:OPENAI_API_KEY}}", serverKey),
				]);
				const sent = body !== undefined && "text" in body ? { body: body.text } : {};
				const response = await fetch(url, { method, headers: filled, ...sent });
				return { status: response.status, headers: [...response.headers], body: { text: await response.text() } };
			},
		};
	}
	async function chat(input: ChatInput, host = liveHost()): Promise<CallResult> {
		return (await openBundle("openai-compatible", host, { base_url: server.baseUrl })).call("provider.chat", input);
	}
	async function failureOf(question: string) {
		const opened = await openBundle("openai-compatible", liveHost(), { base_url: server.baseUrl });
		const outcome = await opened.outcome("provider.chat", ask(question));
		if (outcome.ok) throw new Error("it should fail");
		const [, code] = /^(\w+): /.exec(outcome.error.message) ?? [];
		return {
			code,
			retryable: outcome.retryable,
			...(outcome.retryAfterMs ? { retryAfterMs: outcome.retryAfterMs } : {}),
		};
	}

	it("gives the text, the reasoning and the usage", async () => {
		expect(await chat(ask("plain text"))).toEqual({
			ok: true,
			output: {
				content: text("Grüße, 世界! 🌍"),
				toolCalls: [],
				reasoning: "A greeting is wanted.",
				usage: { input: 11, output: 7 },
				stop: "end",
			},
		});
	});

	it("carries tool calls and their results both ways", async () => {
		const first = await chat(ask("call the tool", { tools: [weather] }));
		const call = { id: "call_abc", name: "weather", arguments: { city: "Zürich" } };
		expect(first).toMatchObject({ ok: true, output: { content: [], toolCalls: [call], stop: "tool" } });
		const messages: ChatInput["messages"] = [
			{ role: "user", content: text("call the tool") },
			{ role: "assistant", content: [], toolCalls: [call] },
			{ role: "tool", callId: call.id, name: call.name, content: text("sunny") },
		];
		const second = await chat(ask("", { tools: [weather], messages, options: { toolChoice: "auto" } }));
		expect(second).toMatchObject({ ok: true, output: { content: text("It is sunny in Zürich."), stop: "end" } });
		const sent = (await server.requests()).at(-1)?.body;
		expect(sent).toMatchObject({
			tool_choice: "auto",
			tools: [{ type: "function", function: { name: "weather", parameters: weather.input } }],
			messages: [
				{ role: "user", content: "call the tool" },
				{
					role: "assistant",
					content: null,
					tool_calls: [{ id: "call_abc", function: { name: "weather", arguments: '{"city":"Zürich"}' } }],
				},
				{ role: "tool", tool_call_id: "call_abc", content: "sunny" },
			],
		});
	});

	it("sends images as data URLs and the options by their names", async () => {
		const content = [...text("hello"), { type: "image" as const, data: "aGk=", mimeType: "image/png" }];
		const options = { temperature: 0.5, maxTokens: 9, stop: ["x"], toolChoice: "weather" };
		await chat(ask("", { messages: [{ role: "user", content }], tools: [weather], options }));
		expect((await server.requests()).at(-1)?.body).toMatchObject({
			temperature: 0.5,
			max_tokens: 9,
			stop: ["x"],
			tool_choice: { type: "function", function: { name: "weather" } },
			messages: [
				{
					role: "user",
					content: [
						{ type: "text", text: "hello" },
						{ type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
					],
				},
			],
		});
	});

	it.each([
		["cut short", "length"],
		["filtered out", "filtered"],
	])("reports how %s ended", async (question, stop) => {
		expect(await chat(ask(question))).toMatchObject({ ok: true, output: { stop } });
	});

	it.each([
		["status 400", { code: "invalid_input", retryable: false }],
		["status 401", { code: "unauthorized", retryable: false }],
		["status 403", { code: "unauthorized", retryable: false }],
		["status 404", { code: "not_found", retryable: false }],
		["status 408", { code: "unavailable", retryable: true }],
		["status 409", { code: "unavailable", retryable: true }],
		["status 422", { code: "invalid_input", retryable: false }],
		["status 429", { code: "rate_limited", retryable: true, retryAfterMs: 7000 }],
		["account used up", { code: "rate_limited", retryable: false }],
		["status 500", { code: "unavailable", retryable: true }],
		["status 503", { code: "unavailable", retryable: true }],
		["malformed arguments", { code: "unavailable", retryable: true }],
		["nothing at all", { code: "unavailable", retryable: true }],
	])("maps %s to the contract's codes", async (question, failure) => {
		expect(await failureOf(question)).toEqual(failure);
	});

	it("goes without a key where none is stored, and says so when the server wants one", async () => {
		const result = await chat(ask("hello"), liveHost([]));
		expect(result).toMatchObject({ ok: false, failure: { code: "unauthorized" } });
		expect(JSON.stringify(result)).toContain("mortise secret set OPENAI_API_KEY");
	});

	it("lists the server's models", async () => {
		const opened = await openBundle("openai-compatible", liveHost(), { base_url: server.baseUrl });
		const result = await opened.call("provider.models", {});
		expect(result).toMatchObject({ ok: true });
		expect(JSON.stringify(result)).toContain('"gpt-4o"');
	});
});

describe("openai-compatible with answers of other servers", () => {
	async function chatWith(response: ScriptedResponse, config = {}) {
		const { host, requests } = createTestHost({ http: [response] });
		const result = await (await openBundle("openai-compatible", host, config)).call("provider.chat", ask("hello"));
		return { result, requests };
	}
	const says = (message: object, finish_reason = "stop") => ({
		json: { choices: [{ message, finish_reason }] } as never,
	});

	it("goes to OpenAI, without a header, when nothing is set", async () => {
		const { result, requests } = await chatWith(says({ content: "Hi." }));
		expect(result).toMatchObject({ ok: true, output: { usage: { input: 0, output: 0 } } });
		expect(requests[0]?.url).toBe("https://api.openai.com/v1/chat/completions");
		expect(requests[0]?.headers?.map(([name]) => name)).not.toContain("authorization");
	});

	it.each([
		["parts", { content: [{ type: "text", text: "Hi." }] }],
		["a refusal", { content: null, refusal: "Hi." }],
	])("reads %s as text", async (_what, message) => {
		expect((await chatWith(says(message))).result).toMatchObject({ ok: true, output: { content: text("Hi.") } });
	});

	it.each([
		["an object", { a: 1 }],
		["text", '{"a":1}'],
		["text encoded twice", '"{\\"a\\":1}"'],
		["a code fence", '```json\n{"a":1}\n```'],
	])("reads arguments given as %s", async (_what, written) => {
		const call = { function: { name: "weather", arguments: written } };
		const { result } = await chatWith(says({ content: null, tool_calls: [call] }));
		expect(result).toMatchObject({
			ok: true,
			output: { toolCalls: [{ id: "call-0", name: "weather", arguments: { a: 1 } }], stop: "tool" },
		});
	});

	it("reads cached tokens", async () => {
		const usage = { prompt_tokens: 9, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 4 } };
		const { result } = await chatWith({ json: { choices: [{ message: { content: "Hi." } }], usage } });
		expect(result).toMatchObject({ ok: true, output: { usage: { input: 9, output: 2, cachedInput: 4 } } });
	});

	it.each([
		["a date", { "retry-after": new Date(Date.now() + 3_600_000).toUTCString() }, 3_000_000, 3_600_000],
		["milliseconds", { "retry-after-ms": "1500" }, 1500, 1500],
		["a date gone by", { "retry-after": "Thu, 01 Jan 2025 00:00:30 GMT" }, 0, 0],
	])("waits as %s says", async (_what, headers, least, most) => {
		const { host } = createTestHost({ http: [{ status: 429, headers }] });
		const outcome = await (await openBundle("openai-compatible", host)).outcome("provider.chat", ask("hello"));
		expect(outcome.ok).toBe(false);
		const wait = outcome.ok ? Number.NaN : outcome.retryAfterMs;
		expect(wait).toBeGreaterThanOrEqual(least);
		expect(wait).toBeLessThanOrEqual(most);
	});

	it.each<[string, ScriptedResponse, string]>([
		["an error inside a 200", { json: { error: { code: 402, message: "pay" } } }, "invalid_input"],
		["a page of HTML", { text: "<html>" }, "unavailable"],
		["a body without choices", { json: {} }, "unavailable"],
		["a refused host", { failure: { code: "unauthorized", message: "not granted" } }, "unauthorized"],
		["a broken network", { failure: { code: "unavailable", message: "reset" } }, "unavailable"],
	])("fails with the right code on %s", async (_what, response, code) => {
		expect((await chatWith(response)).result).toMatchObject({ ok: false, failure: { code } });
	});

	it("names the limit as the settings say", async () => {
		const { host, requests } = createTestHost({ http: [says({ content: "Hi." })] });
		const config = { base_url: "http://model.test/v1/", max_tokens_field: "max_completion_tokens", model: "own" };
		const opened = await openBundle("openai-compatible", host, config);
		await opened.call("provider.chat", ask("hello", { model: "", options: { maxTokens: 3 } }));
		expect(requests[0]?.url).toBe("http://model.test/v1/chat/completions");
		const body = requests[0]?.body;
		expect(JSON.parse(body !== undefined && "text" in body ? body.text : "")).toMatchObject({
			model: "own",
			max_completion_tokens: 3,
		});
	});
});
