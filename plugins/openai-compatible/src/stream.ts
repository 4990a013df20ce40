import { type ChatOutput, type EmitEvent, PluginFailure } from "@mortise/sdk";
import { readEvents } from "./events.js";
import { chatFrom } from "./from-wire.js";
import { listOf, memberOf, objectOf, stringOf } from "./value.js";

/** Puts the chunks of a streamed completion together. */
export type StreamReader = {
	/** Takes text as it came, cut anywhere. */
	readonly push: (text: string) => void;
	/** The whole answer, once the stream is over. Throws when it was cut or held an error. */
	readonly end: () => ChatOutput;
};

/** `failureOf` makes a failure of a chunk that holds the server's error. */
export type StreamOptions = {
	readonly emit: (event: EmitEvent) => void;
	readonly failureOf: (chunk: unknown) => PluginFailure | undefined;
};

type Call = { id: string; name: string; arguments: string };

/**
 * Reads `POST chat/completions` with `stream: true`: server-sent events, each a chunk with `choices[0].delta`, at last
 * `[DONE]`. Every piece of text, reasoning or a call's arguments is emitted as it comes. A stream that ends without
 * either a `finish_reason` or `[DONE]` was cut: `unavailable`, worth another attempt.
 */
export function readStream({ emit, failureOf }: StreamOptions): StreamReader {
	const calls = new Map<number, Call>();
	let said = "";
	let reasoning = "";
	let refusal = "";
	let finish: string | undefined;
	let usage: unknown;
	let isDone = false;

	const takeDelta = (delta: unknown): void => {
		const text = stringOf(memberOf(delta, "content"));
		if (text !== undefined) {
			said += text;
			emit({ type: "delta", text });
		}
		const thought = stringOf(memberOf(delta, "reasoning_content")) ?? stringOf(memberOf(delta, "reasoning"));
		if (thought !== undefined) {
			reasoning += thought;
			emit({ type: "reasoning", text: thought });
		}
		refusal += stringOf(memberOf(delta, "refusal")) ?? "";
		listOf(memberOf(delta, "tool_calls")).forEach((part, position) => {
			const given = memberOf(part, "index");
			const index = typeof given === "number" ? given : position;
			const called = memberOf(part, "function");
			const call = calls.get(index) ?? { id: "", name: "", arguments: "" };
			call.id ||= stringOf(memberOf(part, "id")) ?? "";
			call.name ||= stringOf(memberOf(called, "name")) ?? "";
			const argumentsText = stringOf(memberOf(called, "arguments")) ?? "";
			call.arguments += argumentsText;
			calls.set(index, call);
			emit({ type: "tool-call", id: call.id === "" ? `call-${index}` : call.id, name: call.name, argumentsText });
		});
	};
	const events = readEvents((data) => {
		if (isDone || data.trim() === "") return;
		if (data.trim() === "[DONE]") {
			isDone = true;
			return;
		}
		const chunk = chunkOf(data);
		const failure = failureOf(chunk);
		if (failure !== undefined) throw failure;
		usage = memberOf(chunk, "usage") ?? usage;
		const choice = listOf(memberOf(chunk, "choices"))[0];
		finish = stringOf(memberOf(choice, "finish_reason")) ?? finish;
		takeDelta(memberOf(choice, "delta"));
	});
	return {
		push: events.push,
		end: () => {
			if (!isDone && finish === undefined)
				throw new PluginFailure("unavailable", "the server's stream was cut before the answer was whole", {
					retryable: true,
				});
			const toolCalls = [...calls].sort(([a], [b]) => a - b).map(([index, call]) => wireCall(call, index));
			const message = {
				content: said,
				reasoning_content: reasoning,
				...(refusal === "" ? {} : { refusal }),
				tool_calls: toolCalls,
			};
			return chatFrom({ choices: [{ message, finish_reason: finish }], usage });
		},
	};
}

function wireCall({ id, name, arguments: written }: Call, index: number) {
	return { id: id === "" ? `call-${index}` : id, function: { name, arguments: written } };
}

function chunkOf(data: string): unknown {
	try {
		const chunk: unknown = JSON.parse(data);
		if (objectOf(chunk) !== undefined) return chunk;
	} catch {
		// said below
	}
	throw new PluginFailure("unavailable", "the server's stream holds an event that is no JSON object", {
		retryable: true,
	});
}
