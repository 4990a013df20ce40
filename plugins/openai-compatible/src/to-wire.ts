import { type ChatInput, type JsonObject, type JsonValue, type Message, type Part, PluginFailure } from "@mortise/sdk";

/** The body of `POST chat/completions`. */
export function bodyFor(input: ChatInput, longTokenName: boolean): JsonObject {
	const { options, tools } = input;
	return {
		model: input.model,
		messages: input.messages.map(messageOf),
		stream: false,
		...(tools.length === 0 ? {} : { tools: tools.map(toolOf), ...choiceOf(input) }),
		...(options.temperature === undefined ? {} : { temperature: options.temperature }),
		...(options.maxTokens === undefined
			? {}
			: { [longTokenName ? "max_completion_tokens" : "max_tokens"]: options.maxTokens }),
		...(options.stop === undefined || options.stop.length === 0 ? {} : { stop: options.stop }),
	};
}

function toolOf({ name, description, input }: ChatInput["tools"][number]): JsonValue {
	return { type: "function", function: { name, description, parameters: input as JsonObject } };
}

function choiceOf({ options: { toolChoice }, tools }: ChatInput): JsonObject {
	if (toolChoice === undefined) return {};
	if (toolChoice === "auto" || toolChoice === "none" || toolChoice === "required") return { tool_choice: toolChoice };
	if (!tools.some(({ name }) => name === toolChoice))
		throw new PluginFailure("invalid_input", `options.toolChoice names ${toolChoice}, which is not among the tools`);
	return { tool_choice: { type: "function", function: { name: toolChoice } } };
}

function messageOf(message: Message): JsonValue {
	switch (message.role) {
		case "system":
			return { role: "system", content: plainText(message.content) };
		case "user":
			return { role: "user", content: contentOf(message.content) };
		case "assistant": {
			const calls = message.toolCalls ?? [];
			const said = plainText(message.content);
			return {
				role: "assistant",
				// servers want null, not "", beside tool calls
				content: said === "" && calls.length > 0 ? null : said,
				...(calls.length === 0
					? {}
					: {
							tool_calls: calls.map((call) => ({
								id: call.id,
								type: "function",
								function: { name: call.name, arguments: JSON.stringify(call.arguments) },
							})),
						}),
			};
		}
		case "tool": {
			const said = plainText(message.content);
			return {
				role: "tool",
				tool_call_id: message.callId,
				content: message.isError === true ? `Error: ${said}` : said,
			};
		}
		default:
			return message satisfies never;
	}
}

function contentOf(content: readonly Part[]): JsonValue {
	const [first, ...others] = content;
	if (first?.type === "text" && others.length === 0) return first.text;
	return content.map((part): JsonValue => {
		switch (part.type) {
			case "text":
				return { type: "text", text: part.text };
			case "image":
				return { type: "image_url", image_url: { url: `data:${part.mimeType};base64,${part.data}` } };
			case "audio":
				return { type: "input_audio", input_audio: { data: part.data, format: audioFormat(part.mimeType) } };
			case "resource":
				return { type: "text", text: textOfPart(part) };
			default:
				return part satisfies never;
		}
	});
}

/** Where the protocol takes text only, other parts are named, not dropped in silence. */
function plainText(content: readonly Part[]): string {
	return content.map(textOfPart).join("\n");
}

function textOfPart(part: Part): string {
	switch (part.type) {
		case "text":
			return part.text;
		case "image":
		case "audio":
			return `[${part.type} of type ${part.mimeType}, which cannot be shown here]`;
		case "resource":
			return part.text === undefined ? `[resource ${part.uri}]` : part.text;
		default:
			return part satisfies never;
	}
}

function audioFormat(mimeType: string): string {
	if (/^audio\/(x-)?wav$/i.test(mimeType)) return "wav";
	if (/^audio\/(mpeg|mp3)$/i.test(mimeType)) return "mp3";
	throw new PluginFailure("unsupported", `chat completions take audio as wav or mp3, not ${mimeType}`);
}
