import type { EmitEvent } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import { runTurn } from "../../src/agent/index.js";
import { aPlan, breaks, says, scripted } from "./scripted.js";

const piece = (text: string): EmitEvent => ({ type: "delta", text });

describe("a turn that is watched", () => {
	it("passes each piece of an answer on between its model-start and model-end", async () => {
		const script = scripted([says("hi there")]);
		const chat: typeof script.edges.chat = (input, signal, onEmit) => {
			onEmit?.(piece("hi "));
			onEmit?.(piece("there"));
			return script.edges.chat(input, signal, onEmit);
		};
		await runTurn({ ...aPlan([]), stream: true }, { ...script.edges, chat });
		expect(script.events.map((event) => (event.type === "model-delta" ? event.piece : event.type))).toEqual([
			"turn-start",
			"model-start",
			piece("hi "),
			piece("there"),
			"model-end",
			"turn-end",
		]);
	});

	it("asks for no pieces when nobody watches", async () => {
		const script = scripted([says("hi")]);
		const asked: unknown[] = [];
		const chat: typeof script.edges.chat = (input, signal, onEmit) => {
			asked.push(onEmit);
			return script.edges.chat(input, signal, onEmit);
		};
		await runTurn(aPlan([]), { ...script.edges, chat });
		expect(asked).toEqual([undefined]);
	});

	it.each([
		["is tried again when the provider failed before it said anything", 0, true],
		["is not tried again when half an answer is out already", 1, false],
	])("%s", async (_what, pieces, ok) => {
		const script = scripted([breaks({ retryable: true }), says("hi")]);
		const chat: typeof script.edges.chat = (input, signal, onEmit) => {
			for (let index = 0; index < pieces; index += 1) onEmit?.(piece("half"));
			return script.edges.chat(input, signal, onEmit);
		};
		const outcome = await runTurn({ ...aPlan([]), stream: true }, { ...script.edges, chat });
		expect(outcome.ok).toBe(ok);
		expect(script.asked).toHaveLength(ok ? 2 : 1);
	});
});
