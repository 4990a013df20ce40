// Runs in: worker.
import type { CallOutcome, HostPort, OpenedPlugin, PluginCall, PluginCode } from "../../contract/index.js";
import { HostError, reportOf } from "../../errors.js";
import { adviseGrants } from "../ungranted.js";
import { Budget } from "./budget.js";
import { type EsmBody, GuestCall } from "./guest-call.js";
import { createRealm } from "./realm.js";

/**
 * Opens an ES-module plugin under the profile `wasm-js`: the module runs inside QuickJS compiled to WebAssembly, a fresh
 * engine for each call. It sees the language, a few globals (`prelude.ts`) and, as the second argument of `handle`, the
 * host functions of `code.hostFunctions`; each takes one JSON value and gives a promise, which rejects with an error
 * carrying `code`, `retryable` and `retryAfterMs`.
 *
 * A call never rejects. Breaks: `plugin.threw`, `plugin.syntax`, `plugin.import_refused`, `plugin.no_handler`,
 * `plugin.never_answered`, `plugin.cpu_limit`, `plugin.timeout`, `plugin.memory_limit`, `plugin.stack_limit`,
 * `plugin.crashed`, `plugin.cancelled`, and those of `parseAnswer`. A host call still unanswered when the plugin answers
 * is aborted.
 *
 * @throws HostError `host.internal` when the code is no ES module
 */
export function openEsm(code: PluginCode, host: HostPort): OpenedPlugin {
	const { body } = code;
	if (body.profile !== "wasm-js") {
		throw new HostError("host.internal", { detail: `${code.id} is no ES module, and was opened as one` });
	}
	return { call: (call) => callOnce(code, body, host, call) };
}

async function callOnce(code: PluginCode, body: EsmBody, host: HostPort, call: PluginCall): Promise<CallOutcome> {
	const start = performance.now();
	const { cpuMs, timeoutMs } = code.limits;
	const budget = new Budget({ cpuMs, timeoutMs: Math.min(timeoutMs, call.timeoutMs) });
	try {
		const guest = new GuestCall(code, body, host, call, await createRealm(code.limits.memoryBytes), budget);
		const answer = await guest.run();
		const { refused } = guest;
		const more = { ms: performance.now() - start, ...(refused.length === 0 ? {} : { refused }) };
		const { id } = code;
		return answer.ok ? { ...answer, ...more } : { ...answer, error: adviseGrants(answer.error, id, refused), ...more };
	} catch (error) {
		return { ok: false, error: reportOf(error), retryable: false, ms: performance.now() - start };
	}
}
