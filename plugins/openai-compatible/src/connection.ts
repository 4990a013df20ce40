import {
	type ChatOutput,
	type Context,
	type EmitEvent,
	type HostArguments,
	type HostValue,
	type JsonObject,
	type JsonValue,
	PluginFailure,
	textOf,
} from "@mortise/sdk";
import { chatFrom } from "./from-wire.js";
import { failureFrom } from "./server-failure.js";
import { readStream } from "./stream.js";

type HttpRequest = HostArguments<"http">;

const secret = "OPENAI_API_KEY";
const defaultBase = "https://api.openai.com/v1";

/** One server, with its key when there is one. */
export type Connection = {
	/** Sends one request and gives back the JSON of the answer; anything else than success ends in a `PluginFailure`. */
	readonly ask: (method: "GET" | "POST", path: string, body?: JsonObject) => Promise<unknown>;
	/** One completion, in one piece. */
	readonly chat: (body: JsonObject) => Promise<ChatOutput>;
	/** One completion whose pieces are emitted as they come. A server that does not stream answers in one piece. */
	readonly streamedChat: (body: JsonObject, emit: (event: EmitEvent) => void) => Promise<ChatOutput>;
};

/** Connects to the server that the settings name. Without a granted and stored key the requests go without one. */
export async function connect(context: Context): Promise<Connection> {
	const { host, config } = context;
	const { http } = host;
	if (http === undefined) throw new PluginFailure("unauthorized", "http is not granted to this plugin");
	const base = (typeof config.base_url === "string" ? config.base_url : defaultBase).replace(/\/+$/, "");
	const key = await keyOf(context);
	const headers: [string, string][] = [["accept", "application/json"]];
	if (key !== undefined) headers.push(["authorization", `Bearer ${key}`]);

	const keyHint = key === undefined ? { keyHint: `no key was sent; to store one: mortise secret set ${secret}` } : {};
	const request = (method: "GET" | "POST", path: string, body: JsonValue | undefined): HttpRequest => ({
		method,
		url: `${base}/${path}`,
		headers: body === undefined ? headers : [...headers, ["content-type", "application/json"]],
		...(body === undefined ? {} : { body: { text: JSON.stringify(body) } }),
		...(typeof config.timeout_ms === "number" ? { timeoutMs: config.timeout_ms } : {}),
	});
	const answerIn = async (response: HostValue<"http">): Promise<unknown> => {
		const { ms } = await host.now();
		const value = jsonOf(response);
		const failure = failureFrom(response, value, { nowMs: ms, ...keyHint });
		if (failure !== undefined) throw failure;
		if (value === undefined)
			throw new PluginFailure("unavailable", `the server answered ${response.status} with a body that is not JSON`);
		return value;
	};
	return {
		ask: async (method, path, body) => answerIn(await http(request(method, path, body))),
		chat: async (body) => chatFrom(await answerIn(await http(request("POST", "chat/completions", body)))),
		async streamedChat(body, emit) {
			const { http_read: read } = host;
			const streaming = { ...body, stream: true, stream_options: { include_usage: true } };
			const response = await http({ ...request("POST", "chat/completions", streaming), stream: true });
			const { stream } = response;
			// a host without streams has answered with the whole body
			const pieces = stream === undefined || read === undefined ? whole(response) : piecesOf(() => read({ stream }));
			if (!isEventStream(response)) {
				let text = "";
				for await (const piece of pieces) text += piece;
				const output = chatFrom(await answerIn({ ...response, body: { text } }));
				const said = textOf(output.content);
				if (said !== "") emit({ type: "delta", text: said });
				return output;
			}
			const { ms } = await host.now();
			const reader = readStream({
				emit,
				failureOf: (chunk) =>
					failureFrom({ status: response.status, headers: [], body: { text: "" } }, chunk, { nowMs: ms, ...keyHint }),
			});
			for await (const piece of pieces) reader.push(piece);
			return reader.end();
		},
	};
}

function isEventStream({ status, headers }: HostValue<"http">): boolean {
	const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] ?? "";
	return status >= 200 && status < 300 && /^text\/event-stream\b/i.test(type.trim());
}

async function* piecesOf(read: () => Promise<HostValue<"http_read">>): AsyncGenerator<string> {
	const decoder = new TextDecoder();
	for (;;) {
		const { body, done } = await read();
		yield "text" in body ? body.text : decoder.decode(bytesOf(body.base64), { stream: !done });
		if (done) return;
	}
}

async function* whole({ body }: HostValue<"http">): AsyncGenerator<string> {
	yield textOfBody(body);
}

async function keyOf({ host }: Context): Promise<string | undefined> {
	if (host.secret === undefined) return undefined;
	try {
		return (await host.secret({ name: secret })).placeholder;
	} catch (error) {
		const code = (error as { readonly code?: unknown }).code;
		// not stored, or not granted: a server on this machine needs none
		if (code === "not_found" || code === "unauthorized") return undefined;
		throw error;
	}
}

function jsonOf({ body }: HostValue<"http">): unknown {
	try {
		return JSON.parse(textOfBody(body));
	} catch {
		return undefined;
	}
}

function textOfBody(body: HostValue<"http">["body"]): string {
	return "text" in body ? body.text : new TextDecoder().decode(bytesOf(body.base64));
}

function bytesOf(base64: string): Uint8Array {
	return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
