// Runs in: worker.

import { randomBytes } from "node:crypto";
import {
	type FailureCode,
	type HostArguments,
	type HostFunction,
	type HostResult,
	hostFunctions,
} from "@mortise/sdk/contract";
import { grantCommand } from "../../broker/grant-word.js";
import { checkValue, faultText } from "../../schema-check.js";
import { missingPermission } from "../ungranted.js";
import type { CallState } from "./call-state.js";

/** Host calls that one call of a plugin may make; logging is bounded by its own measure. */
export const maxHostCalls = 1000;
/** Bytes of JSON that one host call takes. */
export const maxArgumentBytes = 1_048_576;

/**
 * Makes the imports of `extism:host/user`: one `mortise_NAME(i64) -> i64` for each host function granted, and a stub for
 * each that was asked for and not granted. Both take and give the address of a block of JSON; address 0 stands for
 * `{}`. The answer is `{ ok: true, value }` or `{ ok: false, failure }`, with these codes of the host's own:
 * `invalid_input` (not the shape of the contract, or too large), `unauthorized` (no grant), `rate_limited` (more than
 * `maxHostCalls`). An address of no block ends the call as `plugin.bad_address`.
 */
export function createHostFunctions(state: CallState): { readonly [name: string]: (address: bigint) => bigint } {
	const linked: Record<string, (address: bigint) => bigint> = {};
	let calls = 0;
	const names = new Set<HostFunction>([
		...state.code.hostFunctions,
		// own keys of data that only the host writes
		...(Object.keys(state.code.ungranted) as HostFunction[]),
	]);
	for (const name of names) {
		linked[`mortise_${name}`] = (address) => {
			if (name !== "log" && name !== "emit" && name !== "http_read") calls += 1;
			const result =
				calls > maxHostCalls
					? failed("rate_limited", `one call may ask the host ${maxHostCalls} times`)
					: answer(state, name, address);
			return state.blocks.store(new TextEncoder().encode(JSON.stringify(result)));
		};
	}
	return linked;
}

function answer(state: CallState, name: HostFunction, address: bigint): HostResult {
	const args = readArguments(state, name, address);
	if (Object.hasOwn(state.code.ungranted, name)) {
		const permission = missingPermission(state.code, name, args.ok ? args.value : undefined);
		if (permission === undefined) return failed("unsupported", "not linked");
		state.refused.add(permission);
		const command = grantCommand(state.code.id, permission);
		return failed("unauthorized", `host.${name} was not granted; run: ${command}`);
	}
	if (!args.ok) return args;
	switch (name) {
		case "log": {
			const entry = args.value as HostArguments<"log">;
			state.log.add(entry.level, entry.message, entry.fields);
			return { ok: true, value: {} };
		}
		case "now":
			return { ok: true, value: { ms: Date.now() } };
		case "random": {
			const { bytes } = args.value as HostArguments<"random">;
			return { ok: true, value: { base64: randomBytes(bytes).toString("base64") } };
		}
		case "emit":
			return state.emit(args.value as HostArguments<"emit">);
		case "http":
		case "http_read":
		case "secret":
		case "kv":
			return state.askHost(name, args.value);
		default:
			return name satisfies never;
	}
}

function readArguments(state: CallState, name: HostFunction, address: bigint): HostResult {
	const found = address === 0n ? undefined : state.blocks.find(address);
	if (address !== 0n && found === undefined) return state.raise("plugin.bad_address", { operation: `mortise_${name}` });
	const bytes = found?.bytes.subarray(found.place) ?? new Uint8Array();
	if (bytes.byteLength > maxArgumentBytes) {
		return failed("invalid_input", `the arguments of host.${name} are larger than ${maxArgumentBytes} bytes`);
	}
	try {
		const value: unknown = bytes.byteLength === 0 ? {} : JSON.parse(new TextDecoder().decode(bytes));
		const checked = checkValue(hostFunctions[name].arguments, value);
		return checked.ok ? checked : failed("invalid_input", `host.${name}: ${faultText(checked.faults)}`);
	} catch (error) {
		// no JSON, or nested deeper than a schema can walk
		return failed("invalid_input", `host.${name}: ${error instanceof Error ? error.message : String(error)}`);
	}
}

function failed(code: FailureCode, message: string): HostResult & { ok: false } {
	return { ok: false, failure: { code, message } };
}
