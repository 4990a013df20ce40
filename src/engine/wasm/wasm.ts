// Runs in: worker.
import type { Envelope, HostFunction } from "@mortise/sdk/contract";
import type { CallOutcome, HostPort, OpenedPlugin, PluginCall, PluginCode } from "../../contract/index.js";
import { errorReport, HostError, type reportOf } from "../../errors.js";
import { parseAnswer, type ReadAnswer } from "../answer.js";
import { adviseGrants } from "../ungranted.js";
import { type StretchOutcome, underDeadline } from "../watchdog.js";
import { breakOf } from "./breaks.js";
import { type CallState, createCallState } from "./call-state.js";
import { findExport, readExportInput, readExportOutput } from "./exports.js";
import { instantiate, type LinkedModule, runInitialisers } from "./instance.js";
import { createKernel, type Kernel } from "./kernel.js";
import { hostModule, ownHttpModule } from "./link-names.js";

/** The export every plugin that knows Mortise answers at. */
export const door = "mortise_call";

/**
 * Makes a WebAssembly plugin callable. Each call links and instantiates the shared module anew and throws the instance
 * away after it, whatever happened; calls may overlap.
 *
 * Time: everything the guest runs — its start function, its initialisers and the call — is one synchronous stretch under
 * V8's watchdog. Its budget is `limits.cpuMs`, or what is left of `limits.timeoutMs` and the caller's `timeoutMs`,
 * whichever is less. A module that imports a host function that waits (`http`, `kv`, `secret`, when granted) holds its
 * thread while it waits, and a watchdog cannot be paused: there the watchdog stands at the timeout, and its own work is
 * held against `limits.cpuMs` each time the host has answered. The one ends as `plugin.cpu_limit`, the other as
 * `plugin.timeout`.
 *
 * A stretch cannot be cancelled: `signal` is looked at before and after it, and ends the call as `plugin.cancelled`.
 *
 * A call ends in one of: `plugin.failed`, `plugin.bad_answer`, `plugin.output_too_large`, `plugin.cpu_limit`,
 * `plugin.timeout`, `plugin.cancelled`, `plugin.trap`, `plugin.guest_error`, `plugin.exit_code`, `plugin.bad_address`, `plugin.limit`,
 * `plugin.link`, `plugin.no_export`, `plugin.unauthorized`, `plugin.not_asked`, `engine.invalid_input`,
 * `engine.unknown_operation`, `engine.no_room`.
 *
 * @throws HostError `host.internal` when `code` is of another profile
 */
export function openWasm(code: PluginCode, host: HostPort): OpenedPlugin {
	if (code.body.profile !== "wasm") throw new HostError("host.internal", { detail: `${code.id} is no wasm plugin` });
	const compiled = code.body.module;
	const module: LinkedModule = { compiled, imports: WebAssembly.Module.imports(compiled) };
	const waits = importsWaiting(module, code);
	return {
		call: async (call) => {
			const started = performance.now();
			const timeoutMs = Math.max(0, Math.min(call.timeoutMs, code.limits.timeoutMs));
			const deadline = started + timeoutMs;
			const state = createCallState({ code, host, call, deadline, timeoutMs });
			let answer: ReadAnswer;
			try {
				answer = await runCall({ call, state, module, waits, deadline, timeoutMs });
			} catch (error) {
				answer = breakOf(error, state);
			}
			state.log.flush(host);
			const ms = performance.now() - started;
			const refused = [...state.refused];
			const more = { ms, ...(refused.length === 0 ? {} : { refused }) };
			if (answer.ok) return { ...answer, ...more } satisfies CallOutcome;
			return { ...answer, error: adviseGrants(answer.error, code.id, refused), ...more } satisfies CallOutcome;
		},
	};
}

async function runCall(running: {
	readonly call: PluginCall;
	readonly state: CallState;
	readonly module: LinkedModule;
	readonly waits: boolean;
	readonly deadline: number;
	readonly timeoutMs: number;
}): Promise<ReadAnswer> {
	const { call, state, module, deadline, timeoutMs } = running;
	const { code } = state;
	if (call.signal?.aborted) return cancelled(code);
	const plain = plainExport(call, code);
	const config = call.config ?? code.config;
	const input =
		plain === undefined
			? new TextEncoder().encode(JSON.stringify(envelopeOf(call, timeoutMs, config)))
			: readExportInput(call.input, plain.input);
	if (input === undefined) return invalidInput(call);

	const kernel = createKernel(state, input, config);
	const instance = await instantiate(module, state, kernel);
	if (call.signal?.aborted) return cancelled(code);
	const name = plain?.export ?? door;
	const run = findExport(instance, name);
	if (run === undefined) return broken(errorReport("plugin.no_export", { plugin: code.id, name }));

	const left = deadline - performance.now();
	const budgetMs = running.waits ? left : Math.min(code.limits.cpuMs, left);
	state.begin();
	const stretch = runStretch(budgetMs, state, () => {
		runInitialisers(instance, code);
		return run();
	});
	if (call.signal?.aborted) return cancelled(code);
	const ending = state.ending();
	if (ending?.kind === "fault") return breakOf(ending.error, state);
	if (!stretch.ok) {
		return budgetMs < left
			? broken(errorReport("plugin.cpu_limit", { plugin: code.id, cpuMs: code.limits.cpuMs }))
			: broken(errorReport("plugin.timeout", { plugin: code.id, timeoutMs, limit: "timeout" }));
	}
	return readResult({ call, code, kernel, name, returned: stretch.value, plain: plain?.input });
}

/** As `underDeadline`; a guest that ends itself with status 0 has returned 0. */
function runStretch(budgetMs: number, state: CallState, run: () => unknown): StretchOutcome<unknown> {
	try {
		return underDeadline(budgetMs, run);
	} catch (error) {
		const ending = state.ending();
		if (ending?.kind !== "exit" || ending.status !== 0) throw error;
		return { ok: true, value: 0, cpuMs: 0 };
	}
}

/** What the guest left behind, in the order in which it counts: its error, its return code, its output. */
function readResult(result: {
	readonly call: PluginCall;
	readonly code: PluginCode;
	readonly kernel: Kernel;
	readonly name: string;
	readonly returned: unknown;
	readonly plain: "text" | "json" | undefined;
}): ReadAnswer {
	const { call, code, kernel, name, returned, plain } = result;
	const message = kernel.error();
	if (message !== undefined) {
		return broken(errorReport("plugin.guest_error", { plugin: code.id, message: message.slice(0, 2000) }));
	}
	// i32 or i64, whatever the guest declares; without a result it cannot say that it failed
	const status = returned === undefined ? 0 : Number(returned);
	if (status !== 0) return broken(errorReport("plugin.exit_code", { plugin: code.id, name, status }));
	const maxBytes = code.limits.outputBytes;
	const bytes = kernel.outputBytes();
	if (bytes > maxBytes) return broken(errorReport("plugin.output_too_large", { op: call.op, bytes, maxBytes }));
	const output = kernel.output();
	if (plain !== undefined) return readExportOutput(output, plain);
	return parseAnswer(output ?? new Uint8Array(), call.op, maxBytes);
}

function plainExport(call: PluginCall, code: PluginCode): PluginCode["exports"][string] | undefined {
	if (call.op !== "tool.call" || typeof call.input !== "object" || call.input === null) return undefined;
	const name = "name" in call.input ? call.input.name : undefined;
	return typeof name === "string" && Object.hasOwn(code.exports, name) ? code.exports[name] : undefined;
}

function envelopeOf(call: PluginCall, timeoutMs: number, config: Envelope["ctx"]["config"]): Envelope {
	return {
		v: 1,
		op: call.op,
		input: call.input,
		ctx: {
			call: call.call,
			deadlineMs: Math.floor(timeoutMs),
			...(call.agent === undefined ? {} : { agent: call.agent }),
			...(config === undefined ? {} : { config }),
		},
	};
}

/** Host functions that the main thread answers. */
const waitingFunctions: ReadonlySet<HostFunction> = new Set(["http", "http_read", "kv", "secret"]);

/** Whether a module imports a host function that is granted and waits for the main thread. */
function importsWaiting(module: LinkedModule, code: PluginCode): boolean {
	const waiting = new Set(code.hostFunctions.filter((name) => waitingFunctions.has(name)));
	return module.imports.some(
		(imported) =>
			(imported.module === ownHttpModule && waiting.has("http")) ||
			(imported.module === hostModule && [...waiting].some((name) => imported.name === `mortise_${name}`)),
	);
}

function cancelled(code: PluginCode): ReadAnswer {
	return broken(errorReport("plugin.cancelled", { plugin: code.id }));
}

function invalidInput(call: PluginCall): ReadAnswer {
	const error = errorReport("engine.invalid_input", { op: call.op });
	return { ...broken(error), failure: { code: "invalid_input", message: error.message } };
}

function broken(error: ReturnType<typeof reportOf>): ReadAnswer & { ok: false } {
	return { ok: false, error, retryable: false };
}
