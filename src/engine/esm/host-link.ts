// Runs in: worker.

import { randomBytes } from "node:crypto";
import {
	type EmitEvent,
	type Failure,
	type HostArguments,
	type HostFunction,
	type HostResult,
	hostFunctions,
} from "@mortise/sdk/contract";
import { grantCommand } from "../../broker/grant-word.js";
import type { HostPort, PluginCall, PluginCode } from "../../contract/index.js";
import { heardByMany } from "../../heard-by-many.js";
import { checkValue, faultText } from "../../schema-check.js";
import { createEmitter, type Emitter } from "../emitter.js";
import { missingPermission } from "../ungranted.js";

/** Host calls one plugin call may make, those that have bounds of their own not counted. */
const maxCalls = 1000;
/** Host calls one plugin call may have unanswered at a time. */
const maxOpen = 64;
/** Host functions with bounds of their own: in the emitter, and in the broker. */
const countedApart: ReadonlySet<string> = new Set(["emit", "http_read"]);
/** Log lines one plugin call may write, and UTF-16 units of them as JSON; the rest is dropped and counted. */
const maxLogs = 200;
const maxLogUnits = 65_536;
/** Characters of one log message, and of its fields as JSON; the rest is cut off. */
const maxLogCharacters = 8192;
/** UTF-16 units of one host call's arguments as JSON. */
export const maxArgumentUnits = 2 ** 20;
/** UTF-16 units of one host call's result as JSON. */
const maxResultUnits = 16 * 2 ** 20;

/** A result on its way into the guest. `text` is a `HostResult` as JSON. */
export type Reply = { readonly id: number; readonly text: string };

/**
 * The host functions of one call. Within a stretch the guest only leaves notes (`send`): whatever reaches a port of the
 * host is done afterwards (`flush`), where the watchdog cannot stop it midway.
 */
export class HostLink {
	/** Permissions the call tried to use without a grant, as `grant` takes them. */
	readonly refused = new Set<string>();
	readonly #code: PluginCode;
	readonly #host: HostPort;
	readonly #emit: Emitter | undefined;
	readonly #arrived: () => void;
	readonly #abort = new AbortController();
	readonly #forever = heardByMany(new AbortController().signal);
	#asked: { readonly id: number; readonly name: HostFunction; readonly text: string }[] = [];
	#replies: Reply[] = [];
	#calls = 0;
	#open = 0;
	#logs = 0;
	#logUnits = 0;
	#dropped = 0;

	/** @param arrived called when a reply came in from the host; must not throw */
	constructor(code: PluginCode, host: HostPort, call: PluginCall, arrived: () => void) {
		this.#code = code;
		this.#host = host;
		this.#emit = call.onEmit === undefined ? undefined : createEmitter(call, code);
		this.#arrived = arrived;
		heardByMany(this.#abort.signal);
	}

	/** The members of the `host` object: what is granted, and a stub for what was asked for and not granted. */
	get names(): readonly string[] {
		const names = new Set<string>([...this.#code.hostFunctions, ...Object.keys(this.#code.ungranted)]);
		if (this.#emit === undefined) names.delete("emit");
		return [...names];
	}

	/** Takes note of a host call, within a stretch. Text given back is the result already. */
	send(id: number, name: string, text: string): string | undefined {
		if (!isLinked(this.#code, name)) return JSON.stringify(this.#refuse(name, text));
		if (text.length > maxArgumentUnits) return failed("invalid_input", "the arguments are too large");
		if (name === "log") {
			this.#logUnits += Math.min(text.length, 2 * maxLogCharacters);
			if (this.#logs >= maxLogs || this.#logUnits > maxLogUnits) {
				this.#dropped++;
				return JSON.stringify({ ok: true, value: {} });
			}
			this.#logs++;
		} else if (name !== "emit") {
			if (this.#open >= maxOpen) return failed("rate_limited", `more than ${maxOpen} host calls at a time`);
			if (!countedApart.has(name) && ++this.#calls > maxCalls)
				return failed("rate_limited", `more than ${maxCalls} host calls in one call`);
		}
		this.#open++;
		this.#asked.push({ id, name, text });
		return undefined;
	}

	/** Does what was asked since the last time. To be called outside a stretch. `goOn` is asked before each. */
	flush(goOn: () => boolean): void {
		const asked = this.#asked;
		this.#asked = [];
		for (const { id, name, text } of asked) {
			if (!goOn()) return;
			const args = readArguments(name, text);
			if (!args.ok) this.#reply(id, args);
			else this.#perform(id, name, args.value);
		}
	}

	/** Takes out the replies that came in. */
	take(): readonly Reply[] {
		const replies = this.#replies;
		this.#replies = [];
		return replies;
	}

	get hasReplies(): boolean {
		return this.#replies.length > 0;
	}

	/** True while a host call is unanswered. */
	get pending(): boolean {
		return this.#open > 0;
	}

	/** Writes the log lines and emits the pieces still noted, and aborts every host call in flight. */
	close(): void {
		for (const { name, text } of this.#asked) {
			const args = name === "log" || name === "emit" ? readArguments(name, text) : undefined;
			if (!args?.ok) continue;
			if (name === "log") this.#log(args.value);
			else this.#emit?.(args.value as EmitEvent);
		}
		this.#asked = [];
		if (this.#dropped > 0) this.#log({ level: "warn", message: `${this.#dropped} more log lines were dropped` });
		this.#abort.abort();
	}

	#perform(id: number, name: HostFunction, args: unknown): void {
		if (name === "log") {
			this.#log(args);
			this.#reply(id, { ok: true, value: {} });
		} else if (name === "emit") {
			const result = this.#emit?.(args as EmitEvent) ?? { ok: true as const, value: {} };
			this.#reply(id, result);
		} else if (name === "now") {
			this.#reply(id, { ok: true, value: { ms: Date.now() } });
		} else if (name === "random") {
			const { bytes } = args as { bytes: number };
			this.#reply(id, { ok: true, value: { base64: randomBytes(bytes).toString("base64") } });
		} else {
			void this.#host.call(name, args, this.#abort.signal).then((result) => {
				if (this.#abort.signal.aborted) return;
				// granted as a whole, but not for this host or secret
				if (!result.ok && result.permission !== undefined) this.refused.add(result.permission);
				this.#reply(id, readResult(name, result));
				this.#arrived();
			});
		}
	}

	#reply(id: number, result: HostResult): void {
		this.#open--;
		const text = JSON.stringify(result);
		const fits = text.length <= maxResultUnits;
		this.#replies.push({ id, text: fits ? text : failed("internal", "the result is too large for a plugin") });
	}

	#log(args: unknown): void {
		const { level, message, fields } = args as HostArguments<"log">;
		const line: HostArguments<"log"> = { level, message: cut(message) };
		if (fields !== undefined) {
			const text = JSON.stringify(fields);
			line.fields = text.length > maxLogCharacters ? { cut: cut(text) } : fields;
		}
		// nobody waits for a log line, and it outlives the call
		void this.#host.call("log", line, this.#forever);
	}

	#refuse(name: string, text: string): HostResult {
		const permission = missingPermission(this.#code, name, text);
		if (permission === undefined) return { ok: false, failure: { code: "unsupported", message: "not linked" } };
		this.refused.add(permission);
		const message = `host.${name} is not granted; the operator can allow it: ${grantCommand(this.#code.id, permission)}`;
		return { ok: false, failure: { code: "unauthorized", message } };
	}
}

function cut(text: string): string {
	return text.length > maxLogCharacters ? `${text.slice(0, maxLogCharacters)} …` : text;
}

function isLinked(code: PluginCode, name: string): name is HostFunction {
	return code.hostFunctions.some((linked) => linked === name);
}

function readArguments(name: HostFunction, text: string): HostResult {
	try {
		const checked = checkValue(hostFunctions[name].arguments, JSON.parse(text));
		if (checked.ok) return checked;
		const message = `host.${name}: ${faultText(checked.faults)}`;
		return { ok: false, failure: { code: "invalid_input", message } };
	} catch {
		// nested too deeply to be checked, or no JSON
		return { ok: false, failure: { code: "invalid_input", message: `host.${name}: the arguments cannot be read` } };
	}
}

function readResult(name: HostFunction, result: HostResult): HostResult {
	if (!result.ok) return result;
	const parsed = hostFunctions[name].value.safeParse(result.value);
	if (parsed.success) return { ok: true, value: parsed.data };
	return { ok: false, failure: { code: "internal", message: `host.${name}: the host answered out of contract` } };
}

function failed(code: Failure["code"], message: string): string {
	return JSON.stringify({ ok: false, failure: { code, message } });
}
