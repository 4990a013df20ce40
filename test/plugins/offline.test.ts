import { type ChatInput, type ChatOutput, type Message, text, textOf } from "@mortise/sdk";
import { createTestHost } from "@mortise/sdk/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { openBundle } from "./open.js";

type Opened = Awaited<ReturnType<typeof openBundle>>;
const object = (properties: object, required: readonly string[] = []) => ({ type: "object", properties, required });
const string = { type: "string" };
const upper = { name: "upper", description: "", input: object({ text: string }, ["text"]) };
const add = {
	name: "add",
	description: "Adds two numbers",
	input: object({ a: { type: "number" }, b: { type: "number" }, note: string }, ["a", "b"]),
};
const store = { name: "memory_store", description: "", input: object({ content: string, key: string }, ["content"]) };
const find = {
	name: "memory_recall",
	description: "",
	input: object({ query: string, limit: { type: "integer" } }, ["query"]),
};
const tools = [upper, add, store, find];

describe("offline", () => {
	let opened: Opened;
	beforeAll(async () => {
		opened = await openBundle("offline", createTestHost().host);
	});

	async function chat(messages: readonly Message[], more: Partial<ChatInput> = {}): Promise<ChatOutput> {
		const input = { model: "offline-1", messages, tools, options: {}, ...more };
		const result = await opened.call("provider.chat", input);
		if (!result.ok) throw new Error(JSON.stringify(result.failure));
		return result.output as ChatOutput;
	}
	/** Runs a whole turn: tools answer with what `run` gives, an `Error` as a failure. */
	async function turn(question: string, run: (name: string, args: object) => string | Error = () => "ok") {
		const messages: Message[] = [{ role: "user", content: text(question) }];
		const calls: object[] = [];
		for (;;) {
			const reply = await chat(messages);
			messages.push({ role: "assistant", content: reply.content, toolCalls: reply.toolCalls });
			if (reply.toolCalls.length === 0) return { reply: textOf(reply.content), calls };
			for (const { id, name, arguments: args } of reply.toolCalls) {
				const result = run(name, args);
				calls.push({ id, name, args });
				const content = text(result instanceof Error ? result.message : result);
				messages.push({
					role: "tool",
					callId: id,
					name,
					content,
					...(result instanceof Error ? { isError: true } : {}),
				});
			}
		}
	}

	it.each([
		["what is 2+3*4", "2+3*4 = 14"],
		["What is (2 + 3) * 4?", "(2 + 3) * 4 = 20"],
		["calculate 0.1 + 0.2", "0.1 + 0.2 = 0.3"],
		["2^3^2", "2^3^2 = 512"],
		["-2^2", "-2^2 = -4"],
		["what is 10 / 4 - -1.5", "10 / 4 - -1.5 = 4"],
		["what is 7 % 4 × 2", "7 % 4 × 2 = 6"],
		["what is 1/0", "1/0 has no value"],
		["what is 2 +", "2 +: not an expression I can calculate"],
		["what is (1", "(1: not an expression I can calculate"],
	])("answers %j", async (question, answer) => {
		expect((await turn(question)).reply).toBe(answer);
	});

	it("ends with an expression nested without measure", async () => {
		expect((await turn(`what is ${"(".repeat(5000)}1${")".repeat(5000)}`)).reply).toContain("not an expression");
	});

	it.each([
		["use upper with hello", { text: "hello" }],
		["use upper with text=hello", { text: "hello" }],
		['use upper with {"text": "a; then b"}', { text: "a; then b" }],
		['use upper with "quoted; then kept"', { text: "quoted; then kept" }],
		["use upper with a = b", { text: "a = b" }],
		["Please use the tool upper with hello", { text: "hello" }],
	])("reads the arguments of %j", async (question, args) => {
		expect((await turn(question, () => "X")).calls).toEqual([{ id: "call-1", name: "upper", args }]);
	});

	it("types key=value arguments by the tool's schema", async () => {
		const { calls } = await turn('use add with a=1, b=2.5, note="x, y=z"');
		expect(calls).toEqual([{ id: "call-1", name: "add", args: { a: 1, b: 2.5, note: "x, y=z" } }]);
	});

	it("runs requests one after another and hands the result on", async () => {
		const { reply, calls } = await turn(
			"what is 6*7 then use upper with answer {result}; remember {result}\nrecall answer",
			(name, args) =>
				name === "upper"
					? (args as { text: string }).text.toUpperCase()
					: name === "memory_recall"
						? "ANSWER 42"
						: "stored",
		);
		expect(calls).toEqual([
			{ id: "call-1", name: "upper", args: { text: "answer 42" } },
			{ id: "call-2", name: "memory_store", args: { content: "ANSWER 42" } },
			{ id: "call-3", name: "memory_recall", args: { query: "answer" } },
		]);
		expect(reply.split("\n")).toEqual([
			"6*7 = 42",
			"upper: ANSWER 42",
			"remembered: ANSWER 42",
			"memory_recall: ANSWER 42",
		]);
	});

	it("reports a tool's failure as one, and goes on without its result", async () => {
		const { reply, calls } = await turn(
			"use upper with a then use upper with {result} then what is 1+1",
			() => new Error("denied"),
		);
		expect(calls).toHaveLength(1);
		expect(reply).toMatch(/^upper failed: denied\nupper: not called, there is no earlier result.*\n1\+1 = 2$/);
	});

	it("says which tool is missing and which are offered", async () => {
		expect((await turn("use nothing with x")).reply).toMatch(
			/^nothing: there is no such tool here\. Tools here: upper, add/,
		);
	});

	it("says what arguments a tool takes when it cannot read them", async () => {
		expect((await turn("use add with one and two")).reply).toMatch(
			/^add: not called, it takes a, b, note \(optional\)/,
		);
	});

	it.each(["help", "Help!", "what can you do?", "?", ""])(
		"says that it is no model, what can be written and which tools there are, to %j",
		async (question) => {
			const { reply, calls } = await turn(question);
			expect(calls).toEqual([]);
			expect(reply).toMatch(/^I am not a model: I follow explicit requests/);
			expect(reply).toMatch(/^Tools here: upper, add/m);
		},
	);

	it.each(["Tell me a story", "hello", "{{{{", '"'])(
		"says that it did not understand %j, and the same",
		async (question) => {
			const { reply } = await turn(question);
			expect(reply.split("\n")[0]).toBe(`not understood: ${JSON.stringify(question)}`);
			expect(reply).toMatch(/^I am not a model/m);
		},
	);

	it("offers in its help only what works: each form it names is understood", async () => {
		const { reply } = await turn("help");
		const forms = [...reply.matchAll(/^- (.*?)(?:, for .*)?$/gm)].map((match) => match[1] ?? "");
		expect(forms.length).toBeGreaterThanOrEqual(7);
		for (const form of forms) {
			const request = form
				.replace(/TOOL with (TEXT|WORDS)/, "upper with a")
				.replace("TOOL with key=value, key=", "add with a=1, note=")
				.replace('TOOL with {"key": "value"}', 'upper with {"text": "a"}')
				.replace("TOOL", "add")
				.replace("WORDS", "a word");
			const answer = (await turn(request)).reply;
			expect(answer, request).not.toMatch(/not understood|not called|there is no|I am not a model/);
		}
		const bare = await chat([{ role: "user", content: text("help") }], { tools: [] });
		expect(textOf(bare.content)).toMatch(/There are no tools here\.$/);
		expect(textOf(bare.content)).not.toMatch(/remember|TOOL/);
	});

	it("says what one tool takes", async () => {
		expect((await turn("help add")).reply).toMatch(/^add: Adds two numbers\nadd: it takes a, b, note \(optional\)/);
		expect((await turn("help nothing")).reply).toMatch(/^nothing: there is no such tool here/);
	});

	it("calls nothing when the tool choice is none", async () => {
		const reply = await chat([{ role: "user", content: text("use upper with a") }], {
			options: { toolChoice: "none" },
		});
		expect(reply.toolCalls).toEqual([]);
	});

	it("never gives two calls of a conversation one id", async () => {
		const earlier: Message[] = [
			{ role: "user", content: text("use upper with a") },
			{ role: "assistant", content: [], toolCalls: [{ id: "call-1", name: "upper", arguments: { text: "a" } }] },
			{ role: "tool", callId: "call-1", name: "upper", content: text("A") },
			{ role: "assistant", content: text("upper: A") },
			{ role: "user", content: text("use upper with b") },
		];
		expect((await chat(earlier)).toolCalls.map(({ id }) => id)).toEqual(["call-2"]);
	});

	it("refuses a model it does not have", async () => {
		const result = await opened.call("provider.chat", { model: "gpt", messages: [], tools: [], options: {} });
		expect(result).toMatchObject({ ok: false, failure: { code: "not_found" } });
	});
});
