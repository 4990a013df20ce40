import type {
	CountInput,
	CountOutput,
	ForgetOutput,
	GetOutput,
	KeyInput,
	ListInput,
	ListOutput,
	MemoryHealthOutput,
	RecallInput,
	RecallOutput,
	StoreInput,
	StoreOutput,
} from "../contract/memory.js";
import type { ChatInput, ChatOutput, ModelsOutput } from "../contract/provider.js";
import type { PublishInput } from "../contract/state.js";
import type { Context } from "./context.js";

type Operation<Input, Output> = (input: Input, context: Context) => Output | Promise<Output>;

/** A model that a provider offers. */
export type Model = ModelsOutput["models"][number];

/** A model provider. */
export type Provider = {
	/** As in the manifest's `provides.providers`. */
	readonly name: string;
	/** Answers with text, tool calls or both; an answer with neither is an error. */
	readonly chat: Operation<ChatInput, ChatOutput>;
	/** A list, or a function that asks for it. */
	readonly models: readonly Model[] | Operation<Record<string, never>, readonly Model[]>;
};

/**
 * A memory store. In every filter absent means all and an empty list none; a filter that the store does not know must
 * be refused with `unsupported`, never dropped.
 */
export type Memory = {
	/** As in the manifest's `provides.memory`. */
	readonly name: string;
	readonly store: Operation<StoreInput, StoreOutput>;
	readonly recall: Operation<RecallInput, RecallOutput>;
	readonly get: Operation<KeyInput, GetOutput>;
	readonly list: Operation<ListInput, ListOutput>;
	readonly forget: Operation<KeyInput, ForgetOutput>;
	readonly count: Operation<CountInput, CountOutput>;
	/** Absent: always well. */
	readonly health?: Operation<Record<string, never>, MemoryHealthOutput>;
	/** The options of the contract that this store honours beside `session` and `category`. Others are refused for it. */
	readonly features?: readonly MemoryFeature[];
};

/** `namespaces`: the option `namespace`. `since`: the options `since` and `until`. */
export type MemoryFeature = "namespaces" | "since";

/** A place that state is published to. */
export type StateTarget = {
	/** As in the manifest's `provides.state_targets`. */
	readonly name: string;
	readonly publish: Operation<PublishInput, unknown>;
};

/** Defines a model provider. */
export function defineProvider(provider: Provider): Provider {
	return provider;
}

/** Defines a memory store. */
export function defineMemory(memory: Memory): Memory {
	return memory;
}

/** Defines a state target. What `publish` gives back is not looked at. */
export function defineStateTarget(target: StateTarget): StateTarget {
	return target;
}
