import { type FailureCode, type FailureOptions, type HostValue, PluginFailure } from "@mortise/sdk";
import { memberOf, objectOf } from "./value.js";

const longestMessage = 500;
const longestWaitMs = 24 * 60 * 60 * 1000;

/** What is known beside the response: the clock, for `Retry-After` as a date, and what to say when the key is missing. */
export type FailureContext = { readonly nowMs: number; readonly keyHint?: string };

/**
 * The failure that an answer stands for, by its status (RFC 9110) and the server's own words; `undefined` for success.
 * An error object inside a 200, as some gateways send, is a failure too.
 */
export function failureFrom(
	response: HostValue<"http">,
	value: unknown,
	{ nowMs, keyHint }: FailureContext,
): PluginFailure | undefined {
	const error = memberOf(value, "error");
	const inside = error !== undefined && error !== null;
	if (response.status >= 200 && response.status < 300 && !inside) return undefined;
	const own = Number(memberOf(error, "code"));
	const status = response.status < 300 ? (own >= 400 && own < 600 ? own : 500) : response.status;
	const said = wordsOf(value, response);
	const hint = keyHint !== undefined && (status === 401 || status === 403) ? ` (${keyHint})` : "";
	const message = `the server answered ${status}${said === "" ? "" : `: ${said}`}${hint}`;
	const waitMs = waitOf(response, nowMs);
	const retryAfter = waitMs === undefined ? {} : { retryAfterMs: waitMs };
	// an empty account answers 429 as well; waiting does not fill it
	const exhausted = [memberOf(error, "code"), memberOf(error, "type")].includes("insufficient_quota");
	const [code, options] = classify(status, exhausted, retryAfter);
	return new PluginFailure(code, message, options);
}

function classify(status: number, exhausted: boolean, retryAfter: FailureOptions): [FailureCode, FailureOptions] {
	if (status === 401 || status === 403) return ["unauthorized", { retryable: false }];
	if (status === 404 || status === 410) return ["not_found", { retryable: false }];
	if (status === 429) return ["rate_limited", exhausted ? { retryable: false } : { retryable: true, ...retryAfter }];
	if (status === 408 || status === 409 || status === 425) return ["unavailable", { retryable: true, ...retryAfter }];
	if (status === 501) return ["unsupported", { retryable: false }];
	if (status >= 500) return ["unavailable", { retryable: true, ...retryAfter }];
	if (status >= 400) return ["invalid_input", { retryable: false }];
	return ["unavailable", { retryable: false }];
}

function wordsOf(value: unknown, { body }: HostValue<"http">): string {
	const error = memberOf(value, "error");
	const candidates = [memberOf(error, "message"), error, memberOf(value, "message"), memberOf(value, "detail")];
	const said = candidates.find((one) => typeof one === "string" && one !== "");
	if (typeof said === "string") return said.slice(0, longestMessage);
	if (objectOf(value) !== undefined) return JSON.stringify(value).slice(0, longestMessage);
	return "text" in body ? body.text.trim().slice(0, longestMessage) : "";
}

/** `Retry-After` in seconds or as a date, or `retry-after-ms`, as milliseconds to wait. */
function waitOf({ headers }: HostValue<"http">, nowMs: number): number | undefined {
	const header = (name: string) => headers.find(([own]) => own.toLowerCase() === name)?.[1].trim();
	const exact = header("retry-after-ms");
	const wait = header("retry-after");
	let ms = Number.NaN;
	if (exact !== undefined && /^\d+(\.\d+)?$/.test(exact)) ms = Number(exact);
	else if (wait !== undefined && /^\d+(\.\d+)?$/.test(wait)) ms = Number(wait) * 1000;
	else if (wait !== undefined) ms = Math.max(Date.parse(wait) - nowMs, 0);
	return Number.isFinite(ms) ? Math.min(Math.ceil(ms), longestWaitMs) : undefined;
}
