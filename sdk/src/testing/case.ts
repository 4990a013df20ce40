import type { Failure, FailureCode } from "../contract/failure.js";
import type { EmitEvent } from "../contract/host.js";
import type { Manifest } from "../contract/manifest.js";
import { type Operation, type OutputOf, operations } from "../contract/operations.js";

/** What a call ended in. A break of the plugin (a trap, a deadline) is a failure too, with `internal` or `cancelled`. */
export type CallResult =
	| { readonly ok: true; readonly output: unknown }
	| { readonly ok: false; readonly failure: Pick<Failure, "code" | "message"> };

export type CallOptions = { readonly agent?: string; readonly onEmit?: (event: EmitEvent) => void };

/** A plugin opened by any means: in this process, or in the host's own engine. */
export type Opened = {
	/** Must not reject. With `onEmit` somebody watches the answer grow. */
	readonly call: (op: string, input: unknown, options?: CallOptions) => Promise<CallResult>;
	/** Lets the plugin's clock move on by at least a millisecond; without it the real clock is awaited. */
	readonly tick?: () => Promise<void>;
};

/** One promise of the contract. */
export type ConformanceCase = {
	/** Stable, such as `memory.newest-first`. */
	readonly id: string;
	readonly title: string;
	/** Why it does not apply to this plugin. Such a case is not run. */
	readonly skip?: string;
	/** Rejects with a `ConformanceFailure` that says what was expected and what came. */
	readonly run: (opened: Opened) => Promise<void>;
};

/** A promise that was not kept. */
export class ConformanceFailure extends Error {
	override readonly name = "ConformanceFailure";
}

/** Ends the case with a failure unless the condition holds. */
export function expect(condition: boolean, message: string, seen?: unknown): asserts condition {
	if (condition) return;
	throw new ConformanceFailure(seen === undefined ? message : `${message}; got ${shown(seen)}`);
}

/** Calls an operation which must succeed; its output must fit the contract. */
export async function succeed<O extends Operation>(
	opened: Opened,
	op: O,
	input: unknown,
	options?: CallOptions,
): Promise<OutputOf<O>> {
	const result = await opened.call(op, input, options);
	expect(result.ok, `${op} should succeed`, result);
	const parsed = operations[op].output.safeParse(result.output);
	const issues = parsed.error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
	expect(parsed.success, `the output of ${op} should fit the contract (${issues})`, result.output);
	return parsed.data as OutputOf<O>;
}

/** Calls an operation which must fail with one of the codes. */
export async function fail(
	opened: Opened,
	op: string,
	input: unknown,
	...codes: readonly FailureCode[]
): Promise<void> {
	const result = await opened.call(op, input);
	expect(!result.ok && codes.includes(result.failure.code), `${op} should fail with ${codes.join(" or ")}`, result);
	expect(result.failure.message !== "", `a failure of ${op} should have a message`);
}

/** The case every kind has: operations that do not exist, or are of a kind that the bundle does not provide. */
export function unknownOperation(kind: string, { provides }: Manifest): ConformanceCase {
	const foreign = [
		...(provides.channels === undefined ? ["channel.health"] : []),
		...(provides.providers === undefined ? ["provider.models"] : []),
		...(provides.memory === undefined ? ["memory.health"] : []),
	];
	return {
		id: `${kind}.unknown-op`,
		title: "an operation that the plugin does not have fails with unknown_op",
		async run(opened) {
			for (const op of ["conformance.no-such-operation", ...foreign]) await fail(opened, op, {}, "unknown_op");
		},
	};
}

/** Waits until the plugin's clock has moved on, so that two times differ. */
export async function tick(opened: Opened): Promise<void> {
	if (opened.tick !== undefined) return opened.tick();
	const before = Date.now();
	while (Date.now() <= before) await new Promise((resolve) => setTimeout(resolve, 1));
}

function shown(value: unknown): string {
	return (JSON.stringify(value) ?? String(value)).slice(0, 500);
}
