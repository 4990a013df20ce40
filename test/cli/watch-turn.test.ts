import { text } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import { createContext } from "../../src/cli/context.js";
import { createOutput } from "../../src/cli/output.js";
import { watchTurn } from "../../src/cli/watch-turn.js";
import type { TurnEvent } from "../../src/contract/index.js";

function aWatch(options: { readonly isTTY: boolean; readonly json?: boolean }) {
	const written: string[] = [];
	const stdout = { isTTY: options.isTTY, write: (piece: string) => written.push(piece) };
	const output = createOutput({ stdout, stderr: { write: () => undefined } });
	const watch = watchTurn(createContext({ json: options.json === true }, output));
	const tell = (...events: TurnEvent[]) => {
		for (const event of events) watch.options.onEvent?.(event);
	};
	return { written, watch, tell };
}
const piece = (said: string): TurnEvent => ({
	type: "model-delta",
	iteration: 1,
	piece: { type: "delta", text: said },
});
const end = (said: string): TurnEvent => ({ type: "model-end", iteration: 1, content: text(said), toolCalls: [] });

describe("a turn that is watched on a terminal", () => {
	it("shows each piece as it comes, and the reply only once", () => {
		const { written, watch, tell } = aWatch({ isTTY: true });
		expect(watch.options.stream).toBe(true);
		tell(piece("two "), piece("words"));
		expect(written).toEqual(["two ", "words"]);
		tell(end("two words"));
		expect(written.join("")).toBe("two words\n");
		expect(watch.hasShown("two words")).toBe(true);
	});

	it("shows a reply that its pieces did not make up", () => {
		const { watch, tell } = aWatch({ isTTY: true });
		tell(piece("half"), end("half and more"));
		expect(watch.hasShown("half and more")).toBe(false);
	});

	it("obeys nothing that a piece says to the terminal", () => {
		const { written, tell } = aWatch({ isTTY: true });
		tell(piece("\u001b]52;c;aGk=\u0007"));
		expect(written.join("")).not.toMatch(/\p{Cc}/u);
	});
});

describe("a turn that nobody watches", () => {
	it("asks for no pieces on a pipe, and for no events with --json", () => {
		const pipe = aWatch({ isTTY: false });
		expect(pipe.watch.options.stream).toBe(false);
		pipe.tell(piece("x"), end("x"));
		expect(pipe.written).toEqual([]);
		expect(aWatch({ isTTY: true, json: true }).watch.options).toEqual({});
	});
});
