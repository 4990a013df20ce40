import { type InputOf, type OutputOf, operations } from "@mortise/sdk/contract";
import type { CallOutcome } from "../contract/index.js";
import { errorReport } from "../errors.js";
import { checkValue, faultText } from "../schema-check.js";
import type { MemoryOperation, MemoryOutcome, MemoryStore } from "./memory-store.js";

/** Calls one operation of the plugin's door, wherever it lives. Must not reject. */
export type CallMemory = (op: MemoryOperation, input: unknown) => Promise<CallOutcome>;

/**
 * A memory store that a plugin serves. Inputs are checked before the plugin sees them (`invalid_input`), outputs before
 * anyone relies on them (`plugin.bad_answer`), also for more entries than were asked for.
 */
export function createPluginMemory(name: string, call: CallMemory): MemoryStore {
	const run =
		<O extends MemoryOperation>(op: O) =>
		async (input: InputOf<O>): Promise<MemoryOutcome<OutputOf<O>>> => {
			const asked = checkValue(operations[op].input, input);
			if (!asked.ok) {
				const message = `${op}: ${faultText(asked.faults)}`;
				const failure = { code: "invalid_input" as const, message };
				return { ok: false, error: errorReport("plugin.failed", { failure: failure.code, message }), failure };
			}
			const outcome = await call(op, asked.value);
			if (!outcome.ok) {
				return {
					ok: false,
					error: outcome.error,
					...(outcome.failure === undefined ? {} : { failure: outcome.failure }),
				};
			}
			const answer = checkValue(operations[op].output, outcome.output);
			const limit = "limit" in asked.value ? asked.value.limit : undefined;
			if (!answer.ok) return badAnswer(op, faultText(answer.faults));
			if (limit !== undefined && "entries" in answer.value && answer.value.entries.length > limit) {
				return badAnswer(op, `${answer.value.entries.length} entries where at most ${limit} were asked for`);
			}
			// the schema of this operation has just accepted it
			return { ok: true, output: answer.value as OutputOf<O> };
		};
	return {
		name,
		store: run("memory.store"),
		recall: run("memory.recall"),
		get: run("memory.get"),
		list: run("memory.list"),
		forget: run("memory.forget"),
		count: run("memory.count"),
		health: run("memory.health"),
	};
}

function badAnswer(op: string, detail: string): { readonly ok: false; readonly error: ReturnType<typeof errorReport> } {
	return { ok: false, error: errorReport("plugin.bad_answer", { op, detail }) };
}
