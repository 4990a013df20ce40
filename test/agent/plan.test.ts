import { type Message, text } from "@mortise/sdk/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planTurn, resolveAgent } from "../../src/agent/index.js";
import { trimHistory } from "../../src/agent/plan.js";
import { aRepository } from "./builders.js";

const user = (value: string): Message => ({ role: "user", content: text(value) });
const assistant = (value: string, ids: string[] = []): Message => ({
	role: "assistant",
	content: text(value),
	toolCalls: ids.map((id) => ({ id, name: "a", arguments: {} })),
});
const result = (callId: string, value: string): Message => ({ role: "tool", callId, name: "a", content: text(value) });

const { spec } = resolveAgent({
	config: { repositories: { defaults: { instructions: "Be kind.", limits: { turns: 2 } } } },
	folder: "/srv",
	repository: aRepository({ instructions: "Be bold." }),
});
const request = {
	spec: spec ?? expect.unreachable(),
	provider: { name: "offline", bundle: "mortise.offline", model: "m", config: {} },
	tools: [],
	history: [],
	message: "hello",
	turn: "t",
	session: "s",
};

describe("planTurn", () => {
	it("says whose the instructions are, the operator's first, and ends with the message", () => {
		const plan = planTurn({ ...request, history: [user("1"), assistant("2")] });
		expect(plan.messages.map((message) => message.role)).toEqual(["system", "user", "assistant", "user"]);
		const told = plan.messages[0]?.content.map((part) => (part.type === "text" ? part.text : "")) ?? [];
		expect(told[0]).toMatch(/operator[\s\S]*Be kind\./);
		expect(told[1]).toMatch(/repository[\s\S]*Be bold\./);
		expect(plan).toMatchObject({ agent: request.spec.key, limits: { iterations: 10, parallelTools: true } });
	});

	it("refuses a turn more than a session may have", () => {
		expect(planTurn({ ...request, pastTurns: 1 }).turn).toBe("t");
		expect(() => planTurn({ ...request, pastTurns: 2 })).toThrow(
			expect.objectContaining({ code: "session.turn_limit" }),
		);
	});

	it("crosses to a thread as it is", () => {
		const plan = planTurn(request);
		expect(structuredClone(plan)).toEqual(plan);
	});
});

describe("trimHistory", () => {
	it("keeps the newest whole turns within the bound and never parts a call from its result", () => {
		const turn = fc
			.array(fc.string({ maxLength: 30 }), { maxLength: 3 })
			.map((values) => [
				user("q"),
				...values.flatMap((value, index) => [assistant("", [`c${index}`]), result(`c${index}`, value)]),
				assistant("a"),
			]);
		fc.assert(
			fc.property(fc.array(turn, { maxLength: 6 }), fc.nat(2000), (turns, maxBytes) => {
				const history = turns.flat();
				const kept = trimHistory(history, maxBytes);
				expect(history.slice(history.length - kept.length)).toEqual(kept);
				expect(kept.reduce((sum, each) => sum + JSON.stringify(each).length, 0)).toBeLessThanOrEqual(maxBytes);
				if (kept.length > 0) expect(kept[0]?.role).toBe("user");
				const more = turns.slice(turns.length - kept.filter((each) => each.role === "user").length - 1).flat();
				if (kept.length < history.length) {
					expect(more.reduce((sum, each) => sum + JSON.stringify(each).length, 0)).toBeGreaterThan(maxBytes);
				}
			}),
		);
	});
});
