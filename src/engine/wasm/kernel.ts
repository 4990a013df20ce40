// Runs in: worker.
import { type HostArguments, type HostValue, hostFunctions, type JsonObject } from "@mortise/sdk/contract";
import { missingPermission } from "../ungranted.js";
import type { CallState } from "./call-state.js";
import type { EnvironmentFunction } from "./link-names.js";

/** The guest's side of `extism:host/env`: numbers are i32, bigints i64. */
type EnvironmentFunctions = {
	readonly [name in EnvironmentFunction]: (first: bigint, second: bigint) => unknown;
};

/** An Extism kernel for one call. */
export type Kernel = {
	readonly functions: EnvironmentFunctions;
	/** What the guest set as its output, cut to the length it gave; nothing when it set none. A copy. */
	readonly output: () => Uint8Array | undefined;
	/** How many bytes that is, without copying them. */
	readonly outputBytes: () => number;
	/** What the guest set as its error. */
	readonly error: () => string | undefined;
};

/** Bytes of names and values that variables may hold in one call. */
export const maxVariableBytes = 1_048_576;
/** `get_log_level`: everything from `debug` on is wanted (trace 0, debug 1, info 2, warn 3, error 4). */
const debugLevel = 1;

/**
 * Makes the Extism kernel of one call: what stands behind the imports of `extism:host/env`, in place of the SDK's own.
 *
 * The guest never reaches a buffer of the host: `input` is copied in, the output copied out. Configuration answers for
 * its own keys only; values that are no strings are given as JSON. Arguments stay the guest's: nothing it passes is
 * freed. Whatever goes wrong ends the call through `state.raise`: `plugin.bad_address`, `plugin.limit`,
 * `plugin.unauthorized`, `plugin.not_asked`, `plugin.failed`.
 */
export function createKernel(state: CallState, input: Uint8Array, config: JsonObject): Kernel {
	const { blocks, raise } = state;
	const inputAddress = blocks.store(input);
	const variables = new Map<string, Uint8Array>();
	let variableBytes = 0;
	let outputSet: { readonly bytes: Uint8Array; readonly start: number; readonly length: number } | undefined;
	let errorAddress = 0n;
	let errorSet: Uint8Array | undefined;
	let response: { readonly status: number; readonly headers: bigint } = { status: 0, headers: 0n };

	const block = (address: bigint, operation: string): Uint8Array => {
		const found = blocks.find(address);
		if (found === undefined) return raise("plugin.bad_address", { operation });
		return found.bytes.subarray(found.place);
	};
	const text = (address: bigint, operation: string) => decoder.decode(block(address, operation));
	const length = (address: bigint) => {
		const found = blocks.find(address);
		return found === undefined || found.place !== 0 ? 0n : BigInt(found.bytes.byteLength);
	};
	const inputPlace = (offset: bigint) => {
		// the offset counts from the input's start; one past 32 bits would carry into the address
		const place = BigInt.asUintN(64, offset);
		return place >= 2n ** 32n ? raise("plugin.bad_address", { operation: "input_load" }) : inputAddress + place;
	};
	const log = (level: "debug" | "info" | "warn" | "error", name: string) => (address: bigint) =>
		state.log.add(level, text(address, name));

	const functions: EnvironmentFunctions = {
		alloc: (size) => blocks.allocate(size),
		free: (address) => blocks.free(address),
		length,
		length_unsafe: length,
		load_u8: (address) => blocks.loadByte(address),
		load_u64: (address) => blocks.loadWord(address),
		store_u8: (address, value) => blocks.storeByte(address, Number(value)),
		store_u64: (address, value) => blocks.storeWord(address, value),
		input_offset: () => inputAddress,
		input_length: () => BigInt(input.byteLength),
		input_load_u8: (offset) => blocks.loadByte(inputPlace(offset)),
		input_load_u64: (offset) => blocks.loadWord(inputPlace(offset)),
		output_set: (address, size) => {
			const wanted = BigInt.asUintN(64, size);
			if (address === 0n && wanted === 0n) {
				outputSet = { bytes: new Uint8Array(), start: 0, length: 0 };
				return;
			}
			const found = blocks.find(address);
			if (found === undefined || wanted > BigInt(found.bytes.byteLength - found.place)) {
				return raise("plugin.bad_address", { operation: "output_set" });
			}
			outputSet = { bytes: found.bytes, start: found.place, length: Number(wanted) };
		},
		error_set: (address) => {
			errorSet = address === 0n ? undefined : block(address, "error_set");
			errorAddress = address;
		},
		error_get: () => errorAddress,
		config_get: (address) => {
			const key = text(address, "config_get");
			const value = Object.hasOwn(config, key) ? config[key] : undefined;
			if (value === undefined) return 0n;
			return blocks.store(encoder.encode(typeof value === "string" ? value : JSON.stringify(value)));
		},
		var_get: (address) => {
			const value = variables.get(text(address, "var_get"));
			return value === undefined ? 0n : blocks.store(value);
		},
		var_set: (address, valueAddress) => {
			const name = text(address, "var_set");
			const held = variables.get(name);
			const nameBytes = encoder.encode(name).byteLength;
			const rest = variableBytes - (held === undefined ? 0 : nameBytes + held.byteLength);
			if (valueAddress === 0n) {
				variables.delete(name);
				variableBytes = rest;
				return;
			}
			const value = block(valueAddress, "var_set");
			if (rest + nameBytes + value.byteLength > maxVariableBytes) {
				return raise("plugin.limit", { what: "bytes of variables", max: maxVariableBytes });
			}
			variables.set(name, Uint8Array.from(value));
			variableBytes = rest + nameBytes + value.byteLength;
		},
		log_trace: log("debug", "log_trace"),
		log_debug: log("debug", "log_debug"),
		log_info: log("info", "log_info"),
		log_warn: log("warn", "log_warn"),
		log_error: log("error", "log_error"),
		get_log_level: () => debugLevel,
		http_request: (request, body) => {
			const answer = askHttp(
				state,
				text(request, "http_request"),
				body === 0n ? undefined : block(body, "http_request"),
			);
			const headers = Object.fromEntries(answer.headers.map(([name, value]) => [name.toLowerCase(), value]));
			const bytes =
				"text" in answer.body ? encoder.encode(answer.body.text) : Buffer.from(answer.body.base64, "base64");
			response = { status: answer.status, headers: blocks.store(encoder.encode(JSON.stringify(headers))) };
			return blocks.store(bytes);
		},
		http_status_code: () => response.status,
		http_headers: () => response.headers,
	};
	return {
		functions,
		output: () => outputSet?.bytes.slice(outputSet.start, outputSet.start + outputSet.length),
		outputBytes: () => outputSet?.length ?? 0,
		error: () => errorSet && decoder.decode(errorSet),
	};
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Extism's own request, sent as `host.http`. Its way has no answer for a refusal: one ends the call. */
function askHttp(state: CallState, request: string, body: Uint8Array | undefined): HostValue<"http"> {
	const { code, raise } = state;
	const ungranted = missingPermission(code, "http", request);
	if (ungranted !== undefined) {
		state.refused.add(ungranted);
		return raise("plugin.unauthorized", { permission: ungranted });
	}
	if (!code.hostFunctions.includes("http")) return raise("plugin.not_asked", { name: "http" });
	const args = readRequest(request, body);
	if (args === undefined) {
		const message = "the request given to http_request is none";
		return raise("plugin.failed", { failure: "invalid_input", message }, { code: "invalid_input", message });
	}
	const result = state.askHost("http", args);
	if (!result.ok) {
		const { failure } = result;
		return raise("plugin.failed", { failure: failure.code, message: failure.message }, failure);
	}
	return hostFunctions.http.value.parse(result.value);
}

function readRequest(request: string, body: Uint8Array | undefined): HostArguments<"http"> | undefined {
	try {
		const asked = JSON.parse(request);
		const method = typeof asked.method === "string" ? asked.method.toUpperCase() : "GET";
		const headers = Object.entries(asked.headers ?? {});
		const args = {
			method,
			url: asked.url,
			headers,
			...(body && { body: { base64: Buffer.from(body).toString("base64") } }),
		};
		const parsed = hostFunctions.http.arguments.safeParse(args);
		return parsed.success ? parsed.data : undefined;
	} catch {
		return undefined;
	}
}
