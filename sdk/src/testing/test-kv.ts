import { type HostArguments, type HostValue, maxListedKeys } from "../contract/host.js";
import type { JsonObject, JsonValue } from "../contract/json.js";
import { PluginFailure } from "../define/failure.js";

type Value = { readonly value: JsonValue; readonly version: number };

/** A key-value space in memory, behaving as `host.kv` does. */
export type TestKv = {
	readonly answer: (args: HostArguments<"kv">) => HostValue<"kv">;
	readonly set: (key: string, value: JsonValue) => void;
	readonly all: () => JsonObject;
};

/** Makes an empty space. Values are copied in and out; keys are listed in order. */
export function createTestKv(): TestKv {
	const values = new Map<string, Value>();
	let version = 0;

	function set(key: string, value: JsonValue): number {
		// versions grow within the space and never come again
		version += 1;
		values.set(key, { value: copy(value), version });
		return version;
	}

	function answer(args: HostArguments<"kv">): HostValue<"kv"> {
		if (args.op === "list") {
			const { prefix = "", after = "" } = args;
			const keys = [...values.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
			const isMore = keys.length > maxListedKeys;
			return { keys: keys.slice(0, maxListedKeys), ...(isMore ? { more: true } : {}) };
		}
		const { key } = args;
		if (key === undefined) throw new PluginFailure("invalid_input", `kv ${args.op} needs a key`);
		const found = values.get(key);
		if (args.op === "get")
			return found === undefined ? {} : { value: copy(found.value) as never, version: found.version };
		if (args.ifVersion !== undefined && args.ifVersion !== (found?.version ?? 0))
			throw new PluginFailure("unavailable", `kv ${key} has version ${found?.version ?? 0}, not ${args.ifVersion}`, {
				retryable: true,
			});
		if (args.op === "delete") {
			if (values.delete(key)) version += 1;
			return {};
		}
		if (args.value === undefined) throw new PluginFailure("invalid_input", "kv set needs a value");
		return { version: set(key, args.value as JsonValue) };
	}

	return {
		answer,
		set: (key, value) => void set(key, value),
		all: () => Object.fromEntries([...values].map(([key, { value }]) => [key, copy(value)])),
	};
}

function copy<T>(value: T): T {
	return JSON.parse(JSON.stringify(value)) as T;
}
