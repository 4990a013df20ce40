import type { Failure, InputOf, Operation, OutputOf } from "@mortise/sdk/contract";
import type { ErrorReport } from "../contract/index.js";

/** The operations of a memory store. */
export type MemoryOperation = Extract<Operation, `memory.${string}`>;

/** What an operation came to. `failure` is there when the store itself reported one, such as `unsupported`. */
export type MemoryOutcome<Output> =
	| { readonly ok: true; readonly output: Output }
	| { readonly ok: false; readonly error: ErrorReport; readonly failure?: Failure };

type Run<O extends MemoryOperation> = (input: InputOf<O>) => Promise<MemoryOutcome<OutputOf<O>>>;

/**
 * A memory store, native or a plugin's. Every operation resolves; a failure is an outcome. Agents never see each
 * other's entries. A filter that is absent means all, an empty list none; times are ISO 8601 UTC. Without a namespace,
 * `store`, `get` and `forget` mean the entry that has none.
 */
export type MemoryStore = {
	/** The name an agent's `memory` setting gives. */
	readonly name: string;
	readonly store: Run<"memory.store">;
	readonly recall: Run<"memory.recall">;
	readonly get: Run<"memory.get">;
	readonly list: Run<"memory.list">;
	readonly forget: Run<"memory.forget">;
	readonly count: Run<"memory.count">;
	readonly health: Run<"memory.health">;
};
