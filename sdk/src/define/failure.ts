import type { Failure, FailureCode } from "../contract/failure.js";

/** What `PluginFailure` adds to a code and a message. `retryAfterMs` is a wait in milliseconds. */
export type FailureOptions = { readonly retryable?: boolean; readonly retryAfterMs?: number; readonly cause?: unknown };

const codes: Record<FailureCode, true> = {
	invalid_input: true,
	unknown_op: true,
	not_found: true,
	unauthorized: true,
	rate_limited: true,
	unavailable: true,
	unsupported: true,
	cancelled: true,
	internal: true,
};

/**
 * Thrown by a plugin to end an operation with a code of the contract. Anything else thrown becomes `internal`.
 * @example throw new PluginFailure("rate_limited", "the forecast service asks to wait", { retryAfterMs: 2000 });
 */
export class PluginFailure extends Error {
	override readonly name = "PluginFailure";
	readonly code: FailureCode;
	readonly retryable: boolean | undefined;
	readonly retryAfterMs: number | undefined;

	constructor(code: FailureCode, message: string, options: FailureOptions = {}) {
		super(message, options.cause === undefined ? undefined : { cause: options.cause });
		this.code = code;
		this.retryable = options.retryable;
		this.retryAfterMs = options.retryAfterMs;
	}
}

/**
 * The failure a thrown value stands for. An error that carries a code of the contract keeps it (a `PluginFailure`, or
 * what a host function rejected with); every other value is `internal` with its message.
 */
export function failureOf(thrown: unknown): Failure {
	const message = messageOf(thrown);
	if (typeof thrown !== "object" || thrown === null) return { code: "internal", message };
	const { code, retryable, retryAfterMs } = thrown as Record<string, unknown>;
	if (typeof code !== "string" || !Object.hasOwn(codes, code)) return { code: "internal", message };
	return {
		code: code as FailureCode,
		message,
		...(typeof retryable === "boolean" ? { retryable } : {}),
		...(isWait(retryAfterMs) ? { retryAfterMs: Math.ceil(retryAfterMs) } : {}),
	};
}

function isWait(value: unknown): value is number {
	return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function messageOf(thrown: unknown): string {
	try {
		if (typeof thrown === "object" && thrown !== null && "message" in thrown) return String(thrown.message);
		return String(thrown);
	} catch {
		return "the plugin threw a value that cannot be shown";
	}
}
