import type { Failure } from "../contract/failure.js";
import type { EmitEvent, Host, HostArguments, HostValue } from "../contract/host.js";
import type { JsonObject, JsonValue } from "../contract/json.js";
import { PluginFailure } from "../define/failure.js";
import { createTestKv, type TestKv } from "./test-kv.js";

type HttpRequest = HostArguments<"http">;
/** An answer as a test writes it: a text or JSON body, headers as an object. */
export type ScriptedResponse = {
	readonly status?: number;
	readonly headers?: { readonly [name: string]: string };
	readonly text?: string;
	readonly json?: JsonValue;
	readonly base64?: string;
	/** A body that comes in these pieces, where the plugin reads it as a stream. */
	readonly chunks?: readonly string[];
	/** What ends the stream after its pieces, instead of its end. */
	readonly cut?: Failure;
	/** Instead of an answer: what the host refuses with. */
	readonly failure?: Failure;
};

/** How a test host is made. A function that is not mentioned is as if not granted: its member is absent. */
export type TestHostOptions = {
	/** Answers in order, or a function that makes each. A request beyond the list is refused with `unavailable`. */
	readonly http?:
		| readonly ScriptedResponse[]
		| ((request: HttpRequest) => ScriptedResponse | Promise<ScriptedResponse>);
	/** Names of stored secrets; another name is refused with `not_found`. Values never enter a plugin, so there are none. */
	readonly secrets?: readonly string[];
	/** `true` for an empty space, or its first content. */
	readonly kv?: boolean | { readonly [key: string]: JsonValue };
	/** `true` as if somebody watched the answers grow. */
	readonly emit?: boolean;
	/** Where the clock starts, milliseconds since 1970. Every `now` moves it on by one. */
	readonly nowMs?: number;
	/** The same seed gives the same random bytes. */
	readonly seed?: number;
};

/** A host in memory, and what it saw. */
export type TestHost = {
	readonly host: Host;
	readonly logs: readonly HostArguments<"log">[];
	readonly requests: readonly HttpRequest[];
	/** What the plugin emitted; `host.emit` is there with the option `emit`. */
	readonly emitted: readonly EmitEvent[];
	/** The key-value space as it is now. */
	readonly kv: () => JsonObject;
	/** Moves the clock on. */
	readonly advance: (ms: number) => void;
};

const startMs = Date.UTC(2026, 0, 1);

/**
 * Makes a host for tests: everything in memory, deterministic, no network. A refusal rejects as the real host's does,
 * with an error that carries the `code`.
 * @example const { host, requests } = createTestHost({ http: [{ json: { ok: true } }] });
 */
export function createTestHost(options: TestHostOptions = {}): TestHost {
	const logs: HostArguments<"log">[] = [];
	const requests: HttpRequest[] = [];
	const emitted: EmitEvent[] = [];
	const streams = new Map<string, { readonly pieces: string[]; readonly cut: Failure | undefined }>();
	let nowMs = options.nowMs ?? startMs;
	const nextByte = byteSource(options.seed ?? 1);
	const scripted = Array.isArray(options.http) ? [...(options.http as readonly ScriptedResponse[])] : undefined;
	const kv: TestKv | undefined = options.kv === undefined || options.kv === false ? undefined : createTestKv();
	if (kv !== undefined && typeof options.kv === "object")
		for (const [key, value] of Object.entries(options.kv)) kv.set(key, value);

	async function http(request: HttpRequest): Promise<HostValue<"http">> {
		requests.push(request);
		const response = typeof options.http === "function" ? await options.http(request) : scripted?.shift();
		if (response === undefined) throw new PluginFailure("unavailable", "the test host has no answer left");
		if (response.failure !== undefined) throw refusalOf(response.failure);
		const answer = answerOf(response);
		if (request.stream !== true) return answer;
		const id = `stream-${streams.size + 1}`;
		const body = "text" in answer.body ? answer.body.text : atob(answer.body.base64);
		streams.set(id, { pieces: [...(response.chunks ?? [body])], cut: response.cut });
		return { ...answer, body: { text: "" }, stream: id };
	}

	async function httpRead({ stream: id, cancel }: HostArguments<"http_read">): Promise<HostValue<"http_read">> {
		const stream = streams.get(id);
		if (stream === undefined) throw new PluginFailure("not_found", `no stream ${id} is open`);
		const piece = cancel === true ? undefined : stream.pieces.shift();
		if (piece === undefined) streams.delete(id);
		if (piece === undefined && cancel !== true && stream.cut !== undefined) throw refusalOf(stream.cut);
		return { body: { text: piece ?? "" }, done: piece === undefined };
	}

	async function secret({ name }: HostArguments<"secret">): Promise<HostValue<"secret">> {
		if (options.secrets?.includes(name) !== true)
			throw new PluginFailure("not_found", `the secret ${name} is not stored`);
		return { placeholder: `{{secret:${name}}}` };
	}

	return {
		logs,
		requests,
		emitted,
		kv: () => kv?.all() ?? {},
		advance: (ms) => {
			nowMs += ms;
		},
		host: {
			log: async (entry) => {
				logs.push(entry);
				return {};
			},
			now: async () => ({ ms: nowMs++ }),
			random: async ({ bytes }) => {
				const binary = Array.from({ length: bytes }, () => String.fromCharCode(nextByte())).join("");
				return { base64: btoa(binary) };
			},
			...(options.http === undefined ? {} : { http, http_read: httpRead }),
			...(options.secrets === undefined ? {} : { secret }),
			...(kv === undefined ? {} : { kv: async (args: HostArguments<"kv">) => kv.answer(args) }),
			...(options.emit !== true
				? {}
				: {
						emit: async (event: EmitEvent) => {
							emitted.push(event);
							return {};
						},
					}),
		},
	};
}

function refusalOf({ code, message, retryable, retryAfterMs }: Failure): PluginFailure {
	return new PluginFailure(code, message, {
		...(retryable === undefined ? {} : { retryable }),
		...(retryAfterMs === undefined ? {} : { retryAfterMs }),
	});
}

function answerOf({ status = 200, headers = {}, text, json, base64, chunks }: ScriptedResponse): HostValue<"http"> {
	const type: [string, string][] = json === undefined ? [] : [["content-type", "application/json"]];
	const said = text ?? (chunks ?? []).join("");
	const body = base64 === undefined ? { text: json === undefined ? said : JSON.stringify(json) } : { base64 };
	return { status, headers: [...type, ...Object.entries(headers)], body };
}

/** A small deterministic generator (mulberry32); not for secrets. */
function byteSource(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) & 0xff;
	};
}
