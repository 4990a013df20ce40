// Runs in: worker.
import type { HostFunction } from "@mortise/sdk/contract";
import { grantCommand } from "../broker/grant-word.js";
import { asksForHost, parseHostPattern, targetOf } from "../broker/host-pattern.js";
import type { ErrorReport, PluginCode } from "../contract/index.js";

/** The longest arguments that are looked into, in characters. */
const maxReadCharacters = 64 * 1024;

/**
 * The permission that a call of a refused host function lacks, as `grant` takes it: the very host of an `http` call and
 * the very secret, when the manifest asks for them; else the first one the function lacks. Undefined when the function
 * is not one that was asked for and not granted.
 *
 * @param args the plugin's own words: text of JSON, or a value
 */
export function missingPermission(code: PluginCode, name: string, args: unknown): string | undefined {
	const first = Object.hasOwn(code.ungranted, name) ? code.ungranted[name as HostFunction] : undefined;
	const missing = code.missing ?? [];
	if (first === undefined || (name !== "http" && name !== "secret")) return first;
	if (name === "http") return missingHost(missing, memberOf(args, "url")) ?? first;
	const secret = `secret:${memberOf(args, "name")}`;
	return missing.includes(secret) ? secret : first;
}

/** An error with the commands that lift the refusals it came from, where nothing else is known to do. */
export function adviseGrants(error: ErrorReport, id: string, refused: readonly string[]): ErrorReport {
	if (refused.length === 0 || !ownWords.has(error.code)) return error;
	return { ...error, next: `Run: ${refused.map((word) => grantCommand(id, word)).join("; ")}` };
}

/** Breaks that a refused call leads to; the others have their own next step. */
const ownWords = new Set([
	"plugin.threw",
	"plugin.failed",
	"plugin.guest_error",
	"plugin.exit_code",
	"plugin.trap",
	"plugin.bad_answer",
	"plugin.unauthorized",
]);

function missingHost(missing: readonly string[], url: string): string | undefined {
	const target = URL.canParse(url) ? targetOf(new URL(url)) : undefined;
	if (target === undefined) return undefined;
	const isAsked = missing.some((word) => {
		const pattern = word.startsWith("http:") ? parseHostPattern(word.slice("http:".length)) : undefined;
		return pattern !== undefined && asksForHost(pattern, target);
	});
	if (!isAsked) return undefined;
	const isDefault = target.port === (target.scheme === "https" ? 443 : 80);
	return `http:${target.host}${isDefault ? "" : `:${target.port}`}`;
}

function memberOf(args: unknown, name: string): string {
	const value = typeof args === "string" ? parsed(args) : args;
	const member: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
	return typeof member === "string" ? member : "";
}

function parsed(text: string): unknown {
	if (text.length > maxReadCharacters) return undefined;
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
