import {
	defineMemory,
	definePlugin,
	defineProvider,
	defineStateTarget,
	defineTool,
	failure,
	PluginFailure,
	type ToolResult,
	text,
} from "@mortise/sdk";
import { Answer } from "@mortise/sdk/contract";
import { createTestHost, openInProcess } from "@mortise/sdk/testing";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";

const { host } = createTestHost({ kv: true });
const call = (tool: Parameters<typeof definePlugin>[0], name: string, args: unknown = {}) =>
	openInProcess(definePlugin(tool), host).call("tool.call", { name, arguments: args });
const answering = (run: () => unknown) =>
	call({ tools: [defineTool({ name: "t", run: run as () => ToolResult })] }, "t");

describe("defineTool", () => {
	it.each<[string, unknown, object]>([
		["a text", "hi", { content: text("hi") }],
		[
			"parts",
			[{ type: "image", data: "aGk=", mimeType: "image/png" }],
			{ content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] },
		],
		["a structured value", { structured: { a: 1 } }, { content: text('{"a":1}'), structured: { a: 1 } }],
		["both", { structured: [1], content: "one" }, { content: text("one"), structured: [1] }],
		["a failure", failure("no luck"), { content: text("no luck"), isError: true }],
		["null, structured", { structured: null }, { content: text("null"), structured: null }],
	])("turns %s into the contract's output", async (_what, result, output) => {
		expect(await answering(() => result)).toEqual({ ok: true, output });
	});

	it.each([undefined, null, 7, {}])("fails with internal when run gives back %j", async (result) => {
		expect(await answering(() => result)).toMatchObject({ ok: false, failure: { code: "internal" } });
	});

	it("names every place where the arguments do not fit, by JSON Schema and by zod alike", async () => {
		const schema = {
			type: "object",
			properties: { cities: { type: "array", items: { type: "string" } }, days: { type: "integer", minimum: 1 } },
			required: ["cities"],
			additionalProperties: false,
		} as const;
		const shape = z.strictObject({ cities: z.array(z.string()), days: z.number().int().min(1).optional() });
		const tools = [
			defineTool({ name: "json", input: schema, run: () => "ok" }),
			defineTool({ name: "zod", input: shape, run: () => "ok" }),
		];
		for (const name of ["json", "zod"]) {
			const result = await call({ tools }, name, { cities: ["a", 7], days: 0 });
			expect(result).toMatchObject({ ok: false, failure: { code: "invalid_input" } });
			expect(JSON.stringify(result)).toContain("arguments.cities[1]");
			expect(JSON.stringify(result)).toContain("arguments.days");
			expect(await call({ tools }, name, { cities: ["a"] })).toMatchObject({ ok: true });
		}
	});

	it("gives run the type its schema says", () => {
		defineTool({
			name: "t",
			input: {
				type: "object",
				properties: { a: { type: "string" }, b: { type: "array", items: { type: "number" } }, c: { enum: ["x", "y"] } },
				required: ["a"],
			},
			run(input) {
				expectTypeOf(input.a).toEqualTypeOf<string>();
				expectTypeOf(input.b).toEqualTypeOf<number[] | undefined>();
				expectTypeOf(input.c).toEqualTypeOf<"x" | "y" | undefined>();
				return "";
			},
		});
		defineTool({
			name: "t",
			input: z.object({ n: z.coerce.number() }),
			run(input) {
				expectTypeOf(input).toEqualTypeOf<{ n: number }>();
				return "";
			},
		});
	});

	it("hands run the changed value of a schema with defaults", async () => {
		const tool = defineTool({ name: "t", input: z.object({ n: z.number().default(3) }), run: ({ n }) => String(n) });
		expect(await call({ tools: [tool] }, "t")).toEqual({ ok: true, output: { content: text("3") } });
	});
});

describe("definePlugin", () => {
	it("keeps the code of a PluginFailure and makes everything else internal", async () => {
		const failing = (thrown: unknown) =>
			answering(() => {
				throw thrown;
			});
		const options = { retryable: true, retryAfterMs: 20.5 };
		expect(await failing(new PluginFailure("rate_limited", "slower", options))).toEqual({
			ok: false,
			failure: { code: "rate_limited", message: "slower", retryable: true, retryAfterMs: 21 },
		});
		expect(await failing(Object.assign(new Error("no grant"), { code: "unauthorized" }))).toMatchObject({
			failure: { code: "unauthorized", message: "no grant" },
		});
		expect(await failing(new Error("broken"))).toEqual({ ok: false, failure: { code: "internal", message: "broken" } });
		expect(await failing(Object.assign(new Error("x"), { code: "ENOENT" }))).toMatchObject({
			failure: { code: "internal" },
		});
		expect(await failing(Object.assign(new Error("x"), { code: "constructor" }))).toMatchObject({
			failure: { code: "internal" },
		});
		expect(await failing("text")).toMatchObject({ failure: { code: "internal", message: "text" } });
		expect(await failing(undefined)).toMatchObject({ failure: { code: "internal" } });
	});

	it.each([
		null,
		undefined,
		7,
		{},
		{ v: 2, op: "tool.call" },
		{ v: 1, op: 7, ctx: {} },
		{ v: 1, op: "tool.call", input: {} },
	])("answers the envelope %j with invalid_input", async (envelope) => {
		const plugin = definePlugin({ tools: [defineTool({ name: "t", run: () => "" })] });
		const answer = await plugin.handle(envelope as never, host);
		expect(Answer.parse(answer)).toMatchObject({ ok: false, failure: { code: "invalid_input" } });
	});

	it("answers operations of other kinds, and none at all, with unknown_op", async () => {
		const opened = openInProcess(definePlugin({ tools: [defineTool({ name: "t", run: () => "" })] }), host);
		for (const op of ["memory.count", "provider.chat", "nonsense", "__proto__", "toString", ""])
			expect(await opened.call(op, {})).toMatchObject({ ok: false, failure: { code: "unknown_op" } });
	});

	it("gives the context: host, settings, agent and time left", async () => {
		const tool = defineTool({
			name: "t",
			run: (_input, { host: own, config, agent, deadlineMs, call: id }) => ({
				structured: {
					kv: own.kv !== undefined,
					http: own.http !== undefined,
					config,
					agent: agent ?? null,
					deadlineMs,
					id,
				},
			}),
		});
		const plugin = definePlugin({ tools: [tool] });
		const ctx = { call: "c1", deadlineMs: 50, agent: "helper", config: { a: 1 } };
		const answer = await plugin.handle({ v: 1, op: "tool.call", input: { name: "t", arguments: {} }, ctx }, host);
		const structured = { kv: true, http: false, config: { a: 1 }, agent: "helper", deadlineMs: 50, id: "c1" };
		expect(answer).toMatchObject({ ok: true, output: { structured } });
	});

	it("asks the provider that has the model, when there are several", async () => {
		const provider = (name: string) =>
			defineProvider({
				name,
				models: () => [{ id: `${name}-1`, features: [] }],
				chat: () => ({ content: text(name), toolCalls: [], usage: { input: 0, output: 0 }, stop: "end" as const }),
			});
		const opened = openInProcess(definePlugin({ providers: [provider("one"), provider("two")] }), host);
		const chat = (model: string) => opened.call("provider.chat", { model, messages: [], tools: [], options: {} });
		expect(await chat("two-1")).toMatchObject({ output: { content: text("two") } });
		expect(await chat("three-1")).toMatchObject({ failure: { code: "not_found" } });
	});

	it("refuses memory options the store does not declare before the store sees them", async () => {
		const seen: unknown[] = [];
		const never = (input: unknown) => {
			seen.push(input);
			throw new Error("called");
		};
		const memory = defineMemory({
			name: "m",
			store: never,
			recall: never,
			get: never,
			list: never,
			forget: never,
			count: never,
		});
		const opened = openInProcess(definePlugin({ memory }), host);
		for (const more of [{ namespace: "n" }, { since: "2026-01-01T00:00:00Z" }, { until: "x" }, { other: 1 }])
			expect(await opened.call("memory.count", { agent: "a", ...more })).toMatchObject({
				failure: { code: "unsupported" },
			});
		expect(seen).toEqual([]);
	});

	it("publishes state and answers with nothing", async () => {
		const published: unknown[] = [];
		const target = defineStateTarget({ name: "s", publish: ({ state }) => published.push(state) });
		const opened = openInProcess(definePlugin({ stateTargets: [target] }), host);
		expect(await opened.call("state.publish", { agent: "a", state: { turn: "t" } })).toEqual({ ok: true, output: {} });
		expect(published).toEqual([{ turn: "t" }]);
	});

	it("refuses parts that cannot be one plugin", () => {
		const tool = defineTool({ name: "t", run: () => "" });
		const target = defineStateTarget({ name: "s", publish: () => {} });
		expect(() => definePlugin({})).toThrow(TypeError);
		expect(() => definePlugin({ tools: [tool, tool] })).toThrow(TypeError);
		expect(() => definePlugin({ stateTargets: [target, target] })).toThrow(TypeError);
	});
});
