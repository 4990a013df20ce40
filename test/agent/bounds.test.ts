import { describe, expect, it } from "vitest";
import { runTurn } from "../../src/agent/index.js";
import { maxAtOnce } from "../../src/agent/tool-calls.js";
import { maxArgumentBytes, maxCalls } from "../../src/agent/turn.js";
import { answers, aPlan, asks, aTool, done, says, scripted, type Tool } from "./scripted.js";

const a = aTool("a");

describe("what one answer of a model may ask", () => {
	it.each([
		["one call too many", asks(...Array.from({ length: maxCalls + 1 }, () => "a"))],
		["arguments that are too large", asks({ id: "c", name: "a", arguments: { x: "y".repeat(maxArgumentBytes) } })],
		["parts without end", { content: Array.from({ length: 300 }, () => ({ type: "text" as const, text: "x" })) }],
	])(
		"does not include %s: the turn fails by name, no tool runs, and nothing of it leaves the thread",
		async (_what, answer) => {
			let calls = 0;
			const tool: Tool = () => {
				calls += 1;
				return done({ content: [] });
			};
			const { edges, events } = scripted([answer, says("hi")], { a: tool });
			const outcome = await runTurn(aPlan([a]), edges);
			expect(outcome).toMatchObject({ ok: false, error: { code: "turn.answer_too_large", owner: "plugin" } });
			expect(calls).toBe(0);
			expect(JSON.stringify(events).length).toBeLessThan(1000);
		},
	);

	it("runs a bounded number of calls at a time, and all of them", async () => {
		let running = 0;
		let most = 0;
		const tool: Tool = async () => {
			running += 1;
			most = Math.max(most, running);
			await new Promise((resolve) => setImmediate(resolve));
			running -= 1;
			return done({ content: [] });
		};
		const { edges } = scripted([asks(...Array.from({ length: maxCalls }, () => "a")), says("hi")], { a: tool });
		const outcome = await runTurn(aPlan([a]), edges);
		expect(outcome).toMatchObject({ ok: true, tools: { length: maxCalls } });
		expect(most).toBe(maxAtOnce);
	});

	it("adds up usage without passing what counts exactly", async () => {
		const usage = { input: Number.MAX_SAFE_INTEGER, output: Number.MAX_SAFE_INTEGER - 1 };
		const { edges } = scripted(
			[
				{ ...asks("a"), usage },
				{ ...says("hi"), usage },
			],
			{ a: answers("x") },
		);
		const most = Number.MAX_SAFE_INTEGER;
		expect(await runTurn(aPlan([a]), edges)).toMatchObject({ ok: true, usage: { input: most, output: most } });
	});
});
