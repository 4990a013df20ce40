import { readFileSync } from "node:fs";
import type { HostFunction, HostResult } from "@mortise/sdk/contract";
import type { CallOutcome, HostPort, PluginCall, PluginCode } from "../../src/contract/index.js";
import { openEsm } from "../../src/engine/esm/esm.js";

export type Code = Partial<Omit<PluginCode, "limits" | "body">> & {
	readonly limits?: Partial<PluginCode["limits"]>;
	readonly sources?: { readonly [path: string]: string };
};

/** An ES-module plugin of one file, `plugin.js`, unless `sources` says otherwise. */
export function aPlugin(source: string, code: Code = {}): PluginCode {
	const { sources = { "plugin.js": source }, limits, ...rest } = code;
	return {
		id: "acme.test",
		version: "1.0.0",
		digest: "",
		body: { profile: "wasm-js", entry: "plugin.js", sources },
		exports: {},
		hostFunctions: ["log", "now", "random"],
		ungranted: {},
		config: {},
		...rest,
		limits: { memoryBytes: 32 * 2 ** 20, cpuMs: 5000, timeoutMs: 10_000, outputBytes: 65_536, ...limits },
	};
}

/** A plugin whose `handle` runs `body` and answers with the text left in `text`. */
export function aTool(body: string, code: Code = {}): PluginCode {
	return aPlugin(
		`export default { async handle(envelope, host) { let text = ""; ${body}
			return { ok: true, output: { content: [{ type: "text", text }] } };
		} };`,
		code,
	);
}

/** A plugin of the hostile corpus, as its only file. */
export function hostile(name: string, code: Code = {}): PluginCode {
	return aPlugin(readFileSync(new URL(`../hostile/esm/${name}.js`, import.meta.url), "utf8"), code);
}

export type Answers = (name: HostFunction, args: unknown, signal: AbortSignal) => Promise<HostResult>;

/** A host that records what reaches it, and answers `kv` with nothing unless told otherwise. */
export function aHost(answers: Answers = async () => ({ ok: true, value: {} })) {
	const calls: { readonly name: HostFunction; readonly args: unknown; readonly signal: AbortSignal }[] = [];
	const port: HostPort = {
		call(name, args, signal) {
			calls.push({ name, args, signal });
			return name === "log" ? Promise.resolve({ ok: true, value: {} }) : answers(name, args, signal);
		},
		callBlocking() {
			throw new Error("an ES module never blocks its thread");
		},
	};
	const logs = () =>
		calls.flatMap((call) => (call.name === "log" ? [call.args as { level: string; message: string }] : []));
	return { port, calls, logs };
}

/** Calls a plugin's tool once. */
export function callTool(
	code: PluginCode,
	options: Partial<PluginCall> & { host?: HostPort } = {},
): Promise<CallOutcome> {
	const { host = aHost().port, ...call } = options;
	return openEsm(code, host).call({
		op: "tool.call",
		input: { name: "test", arguments: {} },
		call: "call-1",
		timeoutMs: 60_000,
		...call,
	});
}

/** The text of a good answer's first part; the code of a break. */
export function textOrCode(outcome: CallOutcome): string {
	if (!outcome.ok) return outcome.error.code;
	const { content } = outcome.output as { content: readonly { text?: string }[] };
	return content[0]?.text ?? "";
}
