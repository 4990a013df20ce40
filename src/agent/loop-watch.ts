// Runs in: worker.
import { createHash } from "node:crypto";
import type { ToolResult } from "./tool-calls.js";

/** How many times in a row the same calls with the same results are let pass before the model is told. */
export const loopLength = 3;

/** What the model is told, once. */
export const loopNotice =
	"[host: the same call with the same arguments has given the same result 3 times in a row. Do something else, or answer.]";

/**
 * Watches the calls of a turn, iteration by iteration: `tell` when the same set of calls gave the same results for the
 * third time in a row, `stop` when that goes on after the model was told, or comes up again later in the turn.
 */
export function createLoopWatch(): (results: readonly ToolResult[]) => "go-on" | "tell" | "stop" {
	let last = "";
	let count = 0;
	let told = false;
	return (results) => {
		const now = [...new Set(results.map(signatureOf))].sort().join("\n");
		count = now === last ? count + 1 : 1;
		last = now;
		if (count < loopLength) return "go-on";
		if (told) return "stop";
		told = true;
		return "tell";
	};
}

/** A call and what came of it, before any cut: an artefact's id must not make two equal results differ. */
function signatureOf(result: ToolResult): string {
	const whole = JSON.stringify([result.report.name, sorted(result.arguments), result.whole]);
	return createHash("sha256").update(whole).digest("hex");
}

function sorted(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sorted);
	if (typeof value !== "object" || value === null) return value;
	return Object.entries(value)
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([key, member]) => [key, sorted(member)]);
}
