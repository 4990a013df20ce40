import { type Part, text } from "@mortise/sdk/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runTurn } from "../../src/agent/index.js";
import { cutText } from "../../src/agent/output-cap.js";
import type { TurnEvent, TurnOutcome } from "../../src/contract/index.js";
import { answers, aPlan, asks, aTool, breaks, done, says, scripted, shown, type Tool } from "./scripted.js";

type Good = Extract<TurnOutcome, { ok: true }>;
function good(outcome: TurnOutcome): Good {
	if (!outcome.ok) throw new Error(`the turn failed: ${outcome.error.code} ${outcome.error.message}`);
	return outcome;
}
const codeOf = (outcome: TurnOutcome) => (outcome.ok ? undefined : outcome.error.code);
const line = (event: TurnEvent) => ("call" in event ? `${event.type} ${event.call.id}` : event.type);
const a = aTool("a");
const b = aTool("b");

/** Start pairs with end, and the turn's own events are the outermost. */
function expectPaired(events: readonly TurnEvent[]): void {
	const open: string[] = [];
	for (const event of events) {
		if (event.type === "tool-denied") continue;
		const id = "call" in event ? `tool ${event.call.id}` : event.type.replace(/-(start|end)$/, "");
		if (event.type.endsWith("-start")) open.push(id);
		else expect(open.splice(open.indexOf(id), 1)).toEqual([id]);
	}
	expect(open).toEqual([]);
	expect(events[0]?.type).toBe("turn-start");
	expect(events.at(-1)?.type).toBe("turn-end");
}

describe("runTurn", () => {
	it("ends with the model's text when it asks for nothing", async () => {
		const { edges, events } = scripted([says("hi")]);
		const outcome = good(await runTurn(aPlan([]), edges));
		expect(outcome).toMatchObject({ reply: "hi", stop: "end", usage: { input: 10, output: 2 }, tools: [] });
		expect(outcome.messages.map((message) => message.role)).toEqual(["user", "assistant"]);
		expect(events.map(line)).toEqual(["turn-start", "model-start", "model-end", "turn-end"]);
	});

	it("tells the model the results of its calls, in its order, and sums the usage", async () => {
		let freeA = () => {};
		const slow: Tool = () =>
			new Promise((resolve) => {
				freeA = () => resolve(done({ content: text("from a") }));
			});
		const quick: Tool = () => {
			freeA();
			return done({ content: text("from b") });
		};
		const { edges, events, asked } = scripted([asks("a", "b"), says("both")], { a: slow, b: quick });
		const outcome = good(await runTurn(aPlan([a, b]), edges));
		expect(shown(outcome.messages)).toEqual(["from a", "from b"]);
		expect(outcome.tools.map(({ name, owner, decision, ok }) => [name, owner, decision, ok])).toEqual([
			["a", "b.a", "allow", true],
			["b", "b.b", "allow", true],
		]);
		expect(outcome.usage).toEqual({ input: 20, output: 4 });
		expect(events.map(line)).toEqual([
			"turn-start",
			"model-start",
			"model-end",
			"tool-start c0",
			"tool-start c1",
			"tool-end c0",
			"tool-end c1",
			"model-start",
			"model-end",
			"turn-end",
		]);
		expect(asked[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool", "tool"]);
	});

	it("runs calls one after the other when the plan says so", async () => {
		const log: string[] = [];
		const tool =
			(name: string): Tool =>
			async () => {
				log.push(`${name} begins`);
				await Promise.resolve();
				log.push(`${name} ends`);
				return done({ content: text(name) });
			};
		const script = scripted([asks("a", "b"), says("x")], { a: tool("a"), b: tool("b") });
		await runTurn(aPlan([a, b], { parallelTools: false }), script.edges);
		expect(log).toEqual(["a begins", "a ends", "b begins", "b ends"]);
	});

	it("makes a missing tool, bad arguments and a refusal results that the model reads", async () => {
		const wrong = { id: "w", name: "a", arguments: [] as never };
		const script = scripted(
			[asks("A", wrong, { id: "d", name: "b", arguments: {} }), says("sorry")],
			{ a: answers("never") },
			{
				decide: () => ({ allowed: false, rule: "read-only", reason: "no writes" }),
			},
		);
		const outcome = good(await runTurn(aPlan([a, b]), script.edges));
		expect(outcome.tools.map(({ decision, ok, error }) => [decision, ok, error?.code])).toEqual([
			["deny", false, "turn.unknown_tool"],
			["none", false, "turn.bad_arguments"],
			["deny", false, "turn.denied"],
		]);
		expect(shown(outcome.messages)[2]).toContain("no writes");
		expect(outcome.messages.filter((message) => message.role === "tool").every((message) => message.isError)).toBe(
			true,
		);
		expect(script.events.filter((event) => event.type === "tool-denied")).toHaveLength(1);
		expectPaired(script.events);
	});

	it("runs a tool with the arguments the gate cleaned, and never without its leave", async () => {
		const seen: unknown[] = [];
		const tools = { a: ((call) => done({ content: text(String(seen.push(call.arguments))) })) satisfies Tool };
		const call = { id: "1", name: "a", arguments: { city: "Rome", approved: true } };
		const cleaned = scripted([asks(call), says("x")], tools, {
			decide: () => ({ allowed: true, rule: "r", arguments: { city: "Rome" } }),
		});
		await runTurn(aPlan([a]), cleaned.edges);
		expect(seen).toEqual([{ city: "Rome" }]);
		const broken = scripted([asks(call), says("x")], tools, { gate: () => Promise.reject(new Error("gone")) });
		const outcome = good(await runTurn(aPlan([a]), broken.edges));
		expect(outcome.tools[0]?.decision).toBe("deny");
		expect(seen).toHaveLength(1);
	});

	it("tells the model of a plugin that breaks and keeps its owner", async () => {
		const script = scripted([asks("a", "b"), says("x")], {
			a: () => ({ ...breaks(), refused: ["kv"] }),
			b: answers("fine"),
		});
		const outcome = good(await runTurn(aPlan([a, b]), script.edges));
		expect(outcome.tools[0]).toMatchObject({
			ok: false,
			owner: "b.a",
			error: { code: "host.internal" },
			refused: ["kv"],
		});
		expect(outcome.tools[1]?.ok).toBe(true);
		expect(shown(outcome.messages)[0]).toContain("host.internal");
	});

	it("tells apart a tool that reports failure from one that breaks", async () => {
		const script = scripted([asks("a"), says("x")], {
			a: () => done({ content: text("no such city"), isError: true }),
		});
		const outcome = good(await runTurn(aPlan([a]), script.edges));
		expect(outcome.tools[0]).toMatchObject({ ok: false, decision: "allow" });
		expect(outcome.tools[0]?.error).toBeUndefined();
		expect(shown(outcome.messages)).toEqual(["no such city"]);
	});

	it("checks a structured output against the tool's own schema", async () => {
		const tool = aTool("a", { output: { type: "object" } });
		const checkOutput = (_: unknown, structured: unknown) => (structured === null ? ["missing"] : []);
		const without = scripted([asks("a"), says("x")], { a: answers("text only") }, { checkOutput });
		expect(good(await runTurn(aPlan([tool]), without.edges)).tools[0]?.error?.code).toBe("turn.output_invalid");
		const withIt = scripted(
			[asks("a"), says("x")],
			{ a: () => done({ content: [], structured: { n: 1 } }) },
			{ checkOutput },
		);
		const outcome = good(await runTurn(aPlan([tool]), withIt.edges));
		expect(outcome.tools[0]?.ok).toBe(true);
		expect(shown(outcome.messages)).toEqual(['{"n":1}']);
	});

	it("fails on a reply with neither text nor tool calls", async () => {
		for (const step of [{}, says(" \n"), { stop: "length" } as const]) {
			const { edges, events } = scripted([step]);
			const outcome = await runTurn(aPlan([]), edges);
			expect(outcome).toMatchObject({ ok: false, error: { code: "turn.empty_reply", owner: "plugin" } });
			expectPaired(events);
		}
	});

	it("passes on why the provider stopped, and acts on nothing that was filtered", async () => {
		expect(good(await runTurn(aPlan([]), scripted([{ ...says("cut"), stop: "length" }]).edges)).stop).toBe("length");
		const filtered = scripted([{ ...asks("a"), ...says("no"), stop: "filtered" }]);
		const outcome = good(await runTurn(aPlan([a]), filtered.edges));
		expect(outcome).toMatchObject({ stop: "filtered", tools: [] });
		expect(outcome.messages.at(-1)).not.toHaveProperty("toolCalls");
	});

	it("stops at the cap on iterations with the last text", async () => {
		let count = 0;
		const script = scripted([{ ...asks("a"), content: text("thinking") }, asks("a")], {
			a: () => {
				count += 1;
				return done({ content: text(String(count)) });
			},
		});
		const outcome = good(await runTurn(aPlan([a], { iterations: 3 }), script.edges));
		expect(outcome).toMatchObject({ stop: "iterations", reply: "thinking" });
		expect(script.asked).toHaveLength(3);
		expectPaired(script.events);
	});

	it("tells the model once that it repeats itself, then stops", async () => {
		const call = (arguments_: Record<string, number>) => asks({ id: "x", name: "a", arguments: arguments_ });
		// the order of keys makes no difference
		const script = scripted([call({ n: 1, m: 2 }), call({ m: 2, n: 1 })], { a: answers("same") });
		const outcome = good(await runTurn(aPlan([a]), script.edges));
		expect(outcome.stop).toBe("loop");
		expect(script.asked).toHaveLength(4);
		expect(shown(outcome.messages).map((each) => each.includes("[host:"))).toEqual([false, false, true, false]);
	});

	it("sees a loop also when each result is cut and kept under another id", async () => {
		const script = scripted([asks("a")], { a: answers("x".repeat(5000)) });
		expect(good(await runTurn(aPlan([a]), script.edges)).stop).toBe("loop");
	});

	it("lets calls go on whose results differ", async () => {
		let count = 0;
		const tick: Tool = () => {
			count += 1;
			return done({ content: text(String(count)) });
		};
		const script = scripted([...Array.from({ length: 6 }, () => asks("a")), says("done")], { a: tick });
		expect(good(await runTurn(aPlan([a]), script.edges))).toMatchObject({ stop: "end", reply: "done" });
	});

	it("cuts an output on a character boundary and keeps the whole as an artefact", async () => {
		const whole = "é".repeat(600);
		const script = scripted([asks("a"), says("x")], { a: answers(whole) });
		const outcome = good(await runTurn(aPlan([a], { toolOutputBytes: 101 }), script.edges));
		expect(shown(outcome.messages)).toEqual([
			`${"é".repeat(50)}|[output cut: 100 of 1200 bytes shown; the whole is kept as artefact a1]`,
		]);
		expect(script.artefacts).toEqual([whole]);
	});

	it("leaves out a picture that does not fit and goes on when the artefact cannot be kept", async () => {
		const content: Part[] = [...text("see"), { type: "image", data: "A".repeat(2000), mimeType: "image/png" }];
		const keepArtefact = () => Promise.reject(new Error("disk full"));
		const script = scripted([asks("a"), says("x")], { a: () => done({ content }) }, { keepArtefact });
		const outcome = good(await runTurn(aPlan([a]), script.edges));
		expect(shown(outcome.messages)).toEqual(["see|[output cut: 3 of 2003 bytes shown; the rest could not be kept]"]);
	});

	it("repairs empty and repeated ids of calls the same way each time", async () => {
		const twice = { id: "same", name: "a", arguments: {} };
		const run = async () => {
			const script = scripted([asks(twice, twice, { ...twice, id: "" }), asks(twice), says("x")], { a: answers("y") });
			return good(await runTurn(aPlan([a]), script.edges)).messages.flatMap((message) =>
				message.role === "tool" ? [message.callId] : [],
			);
		};
		const ids = await run();
		expect(new Set(ids).size).toBe(4);
		expect(await run()).toEqual(ids);
		const long = scripted([asks({ ...twice, id: "x".repeat(129) }), says("x")], { a: answers("y") });
		expect(good(await runTurn(aPlan([a]), long.edges)).messages[2]).toMatchObject({ callId: "call_1_1" });
	});

	it("tries a provider again that says it may help, twice at most, after the wait it asks for", async () => {
		const helped = scripted([breaks({ retryable: true }), breaks({ retryable: true, retryAfterMs: 70 }), says("hi")]);
		expect(good(await runTurn(aPlan([]), helped.edges)).reply).toBe("hi");
		expect(helped.sleeps).toEqual([500, 70]);
		const hopeless = scripted([breaks({ retryable: true, retryAfterMs: 1 })]);
		expect(codeOf(await runTurn(aPlan([]), hopeless.edges))).toBe("host.internal");
		expect(hopeless.asked).toHaveLength(3);
		const final = scripted([breaks()]);
		await runTurn(aPlan([]), final.edges);
		expect(final.asked).toHaveLength(1);
	});

	it("begins no wait that would outlast the turn", async () => {
		const script = scripted([breaks({ retryable: true, retryAfterMs: 3_600_000 })]);
		expect(codeOf(await runTurn(aPlan([]), script.edges))).toBe("host.internal");
		expect(script.asked).toHaveLength(1);
	});

	it("ends when it is cancelled while the provider is silent, and the provider sees it", async () => {
		let seen: AbortSignal | undefined;
		const script = scripted([
			(_input, signal) => {
				seen = signal;
				queueMicrotask(() => script.cancel("cancelled"));
				return new Promise(() => {});
			},
		]);
		expect(codeOf(await runTurn(aPlan([]), script.edges))).toBe("turn.cancelled");
		expect(seen?.aborted).toBe(true);
		expectPaired(script.events);
	});

	it("ends when it is cancelled while a tool runs or the gate waits, with a report and an end for each call", async () => {
		const hanging: Tool = () => {
			// after whatever is already under way
			setImmediate(() => script.cancel("cancelled"));
			return new Promise(() => {});
		};
		const script = scripted([asks("a", "b")], { a: hanging, b: answers("fine") });
		// also when the model would not have been asked again
		const outcome = await runTurn(aPlan([a, b], { iterations: 1 }), script.edges);
		expect(codeOf(outcome)).toBe("turn.cancelled");
		expect(outcome.tools.map((report) => report.ok)).toEqual([false, true]);
		expectPaired(script.events);
		const waiting = scripted(
			[asks("a", "b")],
			{},
			{
				gate: () => {
					queueMicrotask(() => waiting.cancel("cancelled"));
					return new Promise(() => {});
				},
			},
		);
		const stopped = await runTurn(aPlan([a, b]), waiting.edges);
		expect(codeOf(stopped)).toBe("turn.cancelled");
		expect(stopped.tools.map((report) => report.decision)).toEqual(["none", "none"]);
		expectPaired(waiting.events);
	});

	it("calls no tool and no provider after a cancel", async () => {
		const script = scripted([says("never")]);
		script.cancel("cancelled");
		expect(codeOf(await runTurn(aPlan([]), script.edges))).toBe("turn.cancelled");
		expect(script.asked).toEqual([]);
	});

	it("ends at its deadline, by its own clock or the main thread's word", async () => {
		const silent = () => new Promise<never>(() => {});
		const own = scripted([silent], {}, { sleep: () => Promise.resolve() });
		expect(codeOf(await runTurn(aPlan([]), own.edges))).toBe("turn.timeout");
		const told = scripted([
			() => {
				queueMicrotask(() => told.cancel("timeout"));
				return silent();
			},
		]);
		expect(codeOf(await runTurn(aPlan([]), told.edges))).toBe("turn.timeout");
	});

	it("turns an edge that rejects into an error of the host", async () => {
		const chat = scripted([() => Promise.reject(new Error("broken"))]);
		expect(codeOf(await runTurn(aPlan([]), chat.edges))).toBe("host.internal");
		expectPaired(chat.events);
		const tool = scripted([asks("a"), says("x")], { a: () => Promise.reject(new Error("broken")) });
		expect(good(await runTurn(aPlan([a]), tool.edges)).tools[0]?.error?.code).toBe("host.internal");
	});
});

describe("runTurn with a tool whose output is no output", () => {
	it("blames that call alone, and leaves no rejection behind", async () => {
		const slow: Tool = () => new Promise((resolve) => setImmediate(() => resolve(done({ content: text("fine") }))));
		const script = scripted([asks("a", "b"), says("x")], { a: slow, b: () => done(undefined) });
		const outcome = good(await runTurn(aPlan([a, b]), script.edges));
		expect(outcome.tools.map(({ ok, owner }) => [ok, owner])).toEqual([
			[true, "b.a"],
			[false, "b.b"],
		]);
		expectPaired(script.events);
	});
});

describe("cutText", () => {
	it("gives the longest whole-character beginning, for any text", () => {
		fc.assert(
			fc.property(fc.string({ unit: "binary" }), fc.nat(40), (value, maxBytes) => {
				const cut = cutText(value, maxBytes);
				expect(value.startsWith(cut)).toBe(true);
				expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
				const next = value.slice(cut.length)[Symbol.iterator]().next().value;
				if (next !== undefined) expect(Buffer.byteLength(cut + next)).toBeGreaterThan(maxBytes);
			}),
		);
	});
});
