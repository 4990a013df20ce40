import { type ChatOutput, type JsonObject, PluginFailure, type ToolCall, text } from "@mortise/sdk";
import { countOf, listOf, memberOf, objectOf, stringOf } from "./value.js";

/** Reads the answer to `POST chat/completions`. Servers differ: what is missing has a sensible value, what is wrong fails. */
export function chatFrom(value: unknown): ChatOutput {
	const choice = listOf(memberOf(value, "choices"))[0];
	const message = memberOf(choice, "message");
	if (objectOf(message) === undefined)
		throw new PluginFailure("unavailable", "the server's answer has no message in choices[0]");
	const finish = stringOf(memberOf(choice, "finish_reason"));
	const refusal = stringOf(memberOf(message, "refusal"));
	const said = contentOf(memberOf(message, "content")) ?? refusal;
	const toolCalls = listOf(memberOf(message, "tool_calls")).map((call, index) => toolCallOf(call, index, finish));
	const reasoning = stringOf(memberOf(message, "reasoning_content")) ?? stringOf(memberOf(message, "reasoning"));
	if (said === undefined && toolCalls.length === 0) throw nothingSaid(finish);
	return {
		content: said === undefined ? [] : text(said),
		toolCalls,
		...(reasoning === undefined ? {} : { reasoning }),
		usage: usageOf(memberOf(value, "usage")),
		stop: stopOf(finish, toolCalls, refusal),
	};
}

function contentOf(content: unknown): string | undefined {
	if (typeof content === "string") return stringOf(content);
	const texts = listOf(content).flatMap((part) => stringOf(memberOf(part, "text")) ?? []);
	return stringOf(texts.join(""));
}

function toolCallOf(call: unknown, index: number, finish: string | undefined): ToolCall {
	const called = memberOf(call, "function");
	const name = stringOf(memberOf(called, "name"));
	if (name === undefined)
		throw new PluginFailure("unavailable", `tool call ${index} of the server's answer has no name`);
	return {
		id: stringOf(memberOf(call, "id")) ?? `call-${index}`,
		name,
		arguments: argumentsOf(memberOf(called, "arguments"), name, finish),
	};
}

/**
 * A model writes the arguments as text. Nothing is an empty object, text in a code fence or encoded twice is read;
 * anything else that is no JSON object is a failure which another attempt may mend: a guess would run a tool wrongly.
 */
function argumentsOf(written: unknown, tool: string, finish: string | undefined): JsonObject {
	if (objectOf(written) !== undefined) return written as JsonObject;
	const plain = typeof written === "string" ? written.trim() : "";
	if (plain === "") return {};
	const once = parse(/^```(?:json)?\s*([\s\S]*?)\s*```$/.exec(plain)?.[1] ?? plain);
	const value = typeof once === "string" ? parse(once) : once;
	if (value === null) return {};
	if (objectOf(value) !== undefined) return value as JsonObject;
	if (finish === "length")
		throw new PluginFailure("unavailable", `the token limit cut the arguments for ${tool}; raise maxTokens`);
	throw new PluginFailure("unavailable", `the model wrote arguments for ${tool} that are not a JSON object`, {
		retryable: true,
	});
}

function parse(value: string): unknown {
	try {
		return JSON.parse(value);
	} catch {
		return undefined;
	}
}

function usageOf(usage: unknown): ChatOutput["usage"] {
	const cached = memberOf(memberOf(usage, "prompt_tokens_details"), "cached_tokens");
	const cachedInput = countOf(cached ?? memberOf(usage, "prompt_cache_hit_tokens"));
	return {
		input: countOf(memberOf(usage, "prompt_tokens")),
		output: countOf(memberOf(usage, "completion_tokens")),
		...(cachedInput === 0 ? {} : { cachedInput }),
	};
}

function stopOf(
	finish: string | undefined,
	toolCalls: readonly ToolCall[],
	refusal: string | undefined,
): ChatOutput["stop"] {
	if (toolCalls.length > 0) return "tool";
	if (finish === "length") return "length";
	return finish === "content_filter" || refusal !== undefined ? "filtered" : "end";
}

function nothingSaid(finish: string | undefined): PluginFailure {
	if (finish === "length")
		return new PluginFailure("unavailable", "the token limit was used up before anything was said");
	if (finish === "content_filter")
		return new PluginFailure("unavailable", "the server's content filter withheld the answer");
	return new PluginFailure("unavailable", "the model answered with neither text nor tool calls", { retryable: true });
}
