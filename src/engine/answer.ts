// Runs in: worker.

import { Answer, type Failure, type Operation, operations } from "@mortise/sdk/contract";
import type { z } from "zod";
import type { ErrorReport } from "../contract/index.js";
import { errorReport } from "../errors.js";
import { checkValue, faultText } from "../schema-check.js";

/** A call's outcome without its bookkeeping (`ms`, `refused`). */
export type ReadAnswer =
	| { readonly ok: true; readonly output: unknown }
	| {
			readonly ok: false;
			readonly error: ErrorReport;
			readonly retryable: boolean;
			readonly retryAfterMs?: number;
			/** The plugin's own failure, when it reported one (`plugin.failed`). */
			readonly failure?: Failure;
	  };

/** Characters of a plugin's own message that an error report shows. */
const shownCharacters = 2000;

/**
 * Reads an answer as a plugin gave it, as bytes or as text holding JSON, and checks it as `readAnswer` does.
 * Never throws.
 *
 * @param maxBytes what the answer may hold, in bytes of UTF-8; more is `plugin.output_too_large`
 */
export function parseAnswer(raw: Uint8Array | string, op: string, maxBytes: number): ReadAnswer {
	const bytes = typeof raw === "string" ? Buffer.byteLength(raw) : raw.byteLength;
	if (bytes > maxBytes) return broken(errorReport("plugin.output_too_large", { op, bytes, maxBytes }));
	let value: unknown;
	try {
		value = JSON.parse(typeof raw === "string" ? raw : new TextDecoder("utf-8", { fatal: true }).decode(raw));
	} catch (error) {
		return badAnswer(op, `it is no JSON in UTF-8 (${error instanceof Error ? error.message : String(error)})`);
	}
	return readAnswer(value, op);
}

/**
 * Checks an untrusted answer: the envelope of the door, then the operation's own output schema. Never throws.
 *
 * A failure the plugin reports is `plugin.failed`, with its own code in `failure` and at the head of the message; an
 * answer of another shape is `plugin.bad_answer`; an operation the contract does not know is `engine.unknown_operation`.
 */
export function readAnswer(raw: unknown, op: string): ReadAnswer {
	if (!isOperation(op)) return broken(errorReport("engine.unknown_operation", { op }));
	const answer = check(Answer, raw);
	if (!answer.ok) return badAnswer(op, answer.detail);
	if (!answer.value.ok) return failed(answer.value.failure);
	const output = check<z.ZodType>(operations[op].output, answer.value.output);
	return output.ok ? { ok: true, output: output.value } : badAnswer(op, output.detail);
}

function isOperation(op: string): op is Operation {
	return Object.hasOwn(operations, op);
}

function failed(failure: Failure): ReadAnswer {
	const message = failure.message.slice(0, shownCharacters);
	return {
		ok: false,
		error: errorReport("plugin.failed", { failure: failure.code, message }),
		retryable: failure.retryable ?? (failure.code === "rate_limited" || failure.code === "unavailable"),
		...(failure.retryAfterMs === undefined ? {} : { retryAfterMs: failure.retryAfterMs }),
		failure,
	};
}

function badAnswer(op: string, detail: string): ReadAnswer {
	return broken(errorReport("plugin.bad_answer", { op, detail: detail.slice(0, shownCharacters) }));
}

function broken(error: ErrorReport): ReadAnswer {
	return { ok: false, error, retryable: false };
}

type Checked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly detail: string };

function check<S extends z.ZodType>(schema: S, value: unknown): Checked<z.output<S>> {
	try {
		const checked = checkValue(schema, value);
		return checked.ok ? checked : { ok: false, detail: faultText(checked.faults) };
	} catch (error) {
		// the schema walks a value by recursion: one nested thousands of levels deep ends in a RangeError
		return { ok: false, detail: `it cannot be checked (${error instanceof Error ? error.message : String(error)})` };
	}
}
