import {
	type ChatInput,
	type ChatOutput,
	type JsonObject,
	type Message,
	PluginFailure,
	type ToolSpec,
	text,
	textOf,
} from "@mortise/sdk";
import { needs, onlyString, readArguments } from "./arguments.js";
import { calculate, show } from "./arithmetic.js";
import { type Request, requestsOf } from "./requests.js";

const model = "offline-1";
type ToolMessage = Extract<Message, { role: "tool" }>;

/** What became of one request: a line for the reply and a result for the next, a tool to call first, or a line alone. */
type Step =
	| { readonly kind: "done"; readonly line: string; readonly result: string }
	| { readonly kind: "call"; readonly tool: string; readonly arguments: JsonObject }
	| { readonly kind: "said"; readonly line: string };

/**
 * Carries out the requests of the last user message. It keeps nothing between calls: how far it got follows from the
 * tool results that come after that message. The same conversation always gives the same answer.
 */
export function reply(input: ChatInput): ChatOutput {
	if (input.model !== "" && input.model !== model)
		throw new PluginFailure("not_found", `the provider offline has the model ${model} only`);
	const asked = input.messages.findLastIndex((message) => message.role === "user");
	const question = input.messages[asked];
	const requests = question === undefined ? [] : requestsOf(textOf(question.content));
	const tools = input.options.toolChoice === "none" ? [] : input.tools;
	if (requests.length === 0) return answer(input, { content: help(tools) });

	const results = input.messages.slice(asked + 1).filter((message) => message.role === "tool");
	const lines: string[] = [];
	let previous: string | undefined;
	let used = 0;
	for (const request of requests) {
		const step = take(request, tools, previous);
		if (step.kind !== "call") {
			lines.push(step.line);
			previous = step.kind === "done" ? step.result : undefined;
			continue;
		}
		const result = results[used++];
		if (result === undefined) return answer(input, { content: "", call: step });
		const shown = textOf(result.content) || (result.isError === true ? "no reason was given" : "(nothing)");
		const [stored] = Object.values(step.arguments);
		lines.push(lineOf(request, result, shown, typeof stored === "string" ? stored : undefined));
		previous = result.isError === true ? undefined : shown;
	}
	// who is understood in nothing is told what there is to say
	if (requests.every(({ kind }) => kind === "unknown")) lines.push(help(tools));
	return answer(input, { content: lines.join("\n") });
}

function take(request: Request, tools: readonly ToolSpec[], previous: string | undefined): Step {
	switch (request.kind) {
		case "calculate":
			return calculation(request.expression, previous);
		case "remember":
			return memory("memory_store", "content", request.text, tools, previous);
		case "recall":
			return memory("memory_recall", "query", request.text, tools, previous);
		case "use": {
			const tool = tools.find(({ name }) => name === request.tool);
			if (tool === undefined) return { kind: "said", line: missing(request.tool, tools) };
			const read = readArguments(request.text, tool.input, previous);
			if (!read.ok) return { kind: "said", line: `${request.tool}: not called, ${read.problem}` };
			return { kind: "call", tool: tool.name, arguments: read.value };
		}
		case "help": {
			if (request.tool === undefined) return { kind: "said", line: help(tools) };
			const tool = tools.find(({ name }) => name === request.tool);
			if (tool === undefined) return { kind: "said", line: missing(request.tool, tools) };
			return { kind: "said", line: `${tool.name}: ${tool.description}\n${tool.name}: ${needs(tool.input)}` };
		}
		case "unknown":
			return { kind: "said", line: `not understood: ${JSON.stringify(request.text)}` };
		default:
			return request satisfies never;
	}
}

function calculation(expression: string, previous: string | undefined): Step {
	const filled = expression.replaceAll("{result}", () => `(${previous?.trim() ?? ""})`);
	const value = calculate(filled);
	if (value === undefined) return { kind: "said", line: `${expression}: not an expression I can calculate` };
	const result = show(value);
	if (result === "no number") return { kind: "said", line: `${expression} has no value` };
	return { kind: "done", line: `${expression} = ${result}`, result };
}

function memory(
	name: string,
	argument: string,
	words: string,
	tools: readonly ToolSpec[],
	previous: string | undefined,
): Step {
	const tool = tools.find((one) => one.name === name);
	if (tool === undefined) return { kind: "said", line: `${name}: there is no such tool here, so I have no memory` };
	if (words.includes("{result}") && previous === undefined)
		return { kind: "said", line: `${name}: not called, there is no earlier result to put in place of {result}` };
	const value = words.replaceAll("{result}", () => previous ?? "");
	return { kind: "call", tool: name, arguments: { [onlyString(tool.input) ?? argument]: value } };
}

/** `stored`: what the call was really given, with `{result}` filled in. */
function lineOf(request: Request, result: ToolMessage, shown: string, stored?: string): string {
	if (result.isError === true) return `${result.name} failed: ${shown}`;
	if (request.kind === "remember") return `remembered: ${stored ?? request.text}`;
	return `${result.name}: ${shown}`;
}

type Said = { readonly content: string; readonly call?: Extract<Step, { kind: "call" }> };

function answer(input: ChatInput, { content, call }: Said): ChatOutput {
	const before = input.messages.reduce(
		(count, message) => count + (message.role === "assistant" ? (message.toolCalls?.length ?? 0) : 0),
		0,
	);
	const toolCalls =
		call === undefined ? [] : [{ id: `call-${before + 1}`, name: call.tool, arguments: call.arguments }];
	return {
		content: content === "" ? [] : text(content),
		toolCalls,
		usage: {
			input: estimate(input.messages.map((message) => textOf(message.content)).join("\n")),
			output: estimate(content + (call === undefined ? "" : JSON.stringify(call.arguments))),
		},
		stop: call === undefined ? "end" : "tool",
	};
}

// there are no tokens here; a quarter of the characters keeps budgets and reports in a sensible range
function estimate(value: string): number {
	return Math.ceil(value.length / 4);
}

function missing(name: string, tools: readonly ToolSpec[]): string {
	return `${name}: there is no such tool here. ${offered(tools)}`;
}

function offered(tools: readonly ToolSpec[]): string {
	return tools.length === 0 ? "There are no tools here." : `Tools here: ${tools.map(({ name }) => name).join(", ")}.`;
}

function help(tools: readonly ToolSpec[]): string {
	const has = (name: string) => tools.some((tool) => tool.name === name);
	return [
		"I am not a model: I follow explicit requests, the same way every time, without a network. You can write:",
		"- what is 2+3*4",
		...(has("memory_store") ? ["- remember WORDS"] : []),
		...(has("memory_recall") ? ["- recall WORDS"] : []),
		...(tools.length === 0
			? []
			: [
					"- use TOOL with TEXT, for a tool that takes one text",
					'- use TOOL with key=value, key="a, b"',
					'- use TOOL with {"key": "value"}',
					"- help TOOL, for what a tool takes",
				]),
		"Several are parted by line breaks, '; ' or the word then; {result} stands for the result of the one before.",
		offered(tools),
	].join("\n");
}
