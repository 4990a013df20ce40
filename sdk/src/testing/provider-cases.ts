import { text, textOf } from "../contract/content.js";
import type { EmitEvent } from "../contract/host.js";
import type { Manifest } from "../contract/manifest.js";
import type { ChatInput, ChatOutput, Message } from "../contract/provider.js";
import {
	type CallOptions,
	type ConformanceCase,
	expect,
	fail,
	type Opened,
	succeed,
	unknownOperation,
} from "./case.js";

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const tool = {
	name: "conformance_echo",
	description: "Gives back its text.",
	input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
};

/** Cases for a bundle's provider. `model` is asked where the manifest lists none; else the first listed. */
export function providerCases(manifest: Manifest, model?: string): readonly ConformanceCase[] {
	const [provider] = manifest.provides.providers ?? [];
	const none = provider === undefined ? { skip: "the manifest provides no provider" } : {};
	const features = provider?.features ?? [];
	const lacks = (feature: string) =>
		features.includes(feature) ? none : { skip: `the manifest does not declare the feature ${feature}` };
	const chat = (
		opened: Opened,
		messages: readonly Message[],
		more: Partial<ChatInput> = {},
		options: CallOptions = {},
	) => ask(opened, { messages: [...messages], model: provider?.models?.[0] ?? model ?? "", ...more }, options);

	return [
		{
			id: "provider.text",
			title: "a chat without tools gives text, usage and a stop",
			...none,
			async run(opened) {
				const reply = await chat(opened, [{ role: "user", content: text("Say hello.") }]);
				expect(textOf(reply.content) !== "", "a chat without tools should give text", reply);
				expect(reply.toolCalls.length === 0, "no tool should be called when none is offered", reply);
				expect(reply.stop === "end" || reply.stop === "length", "the stop should be end or length", reply.stop);
			},
		},
		{
			id: "provider.history",
			title: "a conversation with a system message and earlier turns is answered",
			...none,
			async run(opened) {
				const reply = await chat(opened, [
					{ role: "system", content: text("Answer in one word.") },
					{ role: "user", content: text("Grüße, 世界! 🌍") },
					{ role: "assistant", content: text("Hello.") },
					{ role: "user", content: text("And again, please.") },
				]);
				expect(textOf(reply.content) !== "", "the conversation should be answered with text", reply);
			},
		},
		{
			id: "provider.tool-result",
			title: "a conversation that ends with a tool's result is answered",
			...lacks("tools"),
			async run(opened) {
				const messages: Message[] = [
					{ role: "user", content: text(`use ${tool.name} with hello`) },
					{
						role: "assistant",
						content: [],
						toolCalls: [{ id: "call-1", name: tool.name, arguments: { text: "hello" } }],
					},
					{ role: "tool", callId: "call-1", name: tool.name, content: text("hello") },
				];
				const reply = await chat(opened, messages, { tools: [tool] });
				for (const call of reply.toolCalls)
					expect(call.name === tool.name, "only tools that are offered should be called", call);
			},
		},
		{
			id: "provider.streaming",
			title: "what is emitted while somebody watches is the answer's text, in pieces",
			...lacks("streaming"),
			async run(opened) {
				const pieces: EmitEvent[] = [];
				const onEmit = (event: EmitEvent) => void pieces.push(event);
				const reply = await chat(opened, [{ role: "user", content: text("Say hello.") }], {}, { onEmit });
				const emitted = pieces.flatMap((piece) => (piece.type === "delta" ? [piece.text] : [])).join("");
				expect(emitted === textOf(reply.content), "the pieces should make up the text", { emitted, reply });
			},
		},
		{
			id: "provider.vision",
			title: "an image in a user's message is accepted",
			...lacks("vision"),
			async run(opened) {
				const image = { type: "image" as const, data: pixel, mimeType: "image/png" };
				await chat(opened, [{ role: "user", content: [...text("What is in this image?"), image] }]);
			},
		},
		{
			id: "provider.models",
			title: "provider.models lists every model the manifest names, each once",
			...none,
			async run(opened) {
				const { models } = await succeed(opened, "provider.models", {});
				const ids = models.map(({ id }) => id);
				expect(new Set(ids).size === ids.length, "each model should be listed once", ids);
				const missing = (provider?.models ?? []).filter((id) => !ids.includes(id));
				expect(missing.length === 0, "the manifest's models should be listed", missing);
			},
		},
		{
			id: "provider.malformed",
			title: "a chat whose messages are no list fails with invalid_input",
			...none,
			run: (opened) =>
				fail(opened, "provider.chat", { model: "m", messages: "hello", tools: [], options: {} }, "invalid_input"),
		},
		{ ...unknownOperation("provider", manifest), ...none },
	];
}

async function ask(
	opened: Opened,
	input: Pick<ChatInput, "messages" | "model"> & Partial<ChatInput>,
	options: CallOptions,
): Promise<ChatOutput> {
	const reply = await succeed(opened, "provider.chat", { tools: [], options: {}, ...input }, options);
	expect(reply.content.length > 0 || reply.toolCalls.length > 0, "a reply should never be empty", reply);
	expect(
		reply.toolCalls.length > 0 === (reply.stop === "tool"),
		"the stop is tool when, and only when, tools are called",
		reply,
	);
	const ids = reply.toolCalls.map(({ id }) => id);
	expect(new Set(ids).size === ids.length, "each tool call should have an id of its own", ids);
	return reply;
}
