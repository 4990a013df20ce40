import type { Failure } from "../contract/failure.js";
import type { Host, HostArguments, HostValue } from "../contract/host.js";
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
		if (response.failure !== undefined) {
			const { code, message, ...rest } = response.failure;
			throw new PluginFailure(code, message, rest as { retryable?: boolean; retryAfterMs?: number });
		}
		return answerOf(response);
	}

	async function secret({ name }: HostArguments<"secret">): Promise<HostValue<"secret">> {
		if (options.secrets?.includes(name) !== true)
			throw new PluginFailure("not_found", `the secret ${name} is not stored`);
		return { placeholder: `{{secret:${name}}}` };
	}

	return {
		logs,
		requests,
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
			...(options.http === undefined ? {} : { http }),
			...(options.secrets === undefined ? {} : { secret }),
			...(kv === undefined ? {} : { kv: async (args: HostArguments<"kv">) => kv.answer(args) }),
		},
	};
}

function answerOf({ status = 200, headers = {}, text, json, base64 }: ScriptedResponse): HostValue<"http"> {
	const type: [string, string][] = json === undefined ? [] : [["content-type", "application/json"]];
	const body = base64 === undefined ? { text: json === undefined ? (text ?? "") : JSON.stringify(json) } : { base64 };
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
