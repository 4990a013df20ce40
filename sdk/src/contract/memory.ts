import { z } from "zod";
import { JsonObject } from "./json.js";

/** A time, ISO 8601 in UTC. */
const Time = z.iso.datetime();

/** One remembered entry. Times are ISO 8601 UTC. */
export const Entry = z.strictObject({
	key: z.string(),
	content: z.string(),
	at: Time,
	category: z.string().optional(),
	session: z.string().optional(),
	namespace: z.string().optional(),
	importance: z.number().min(0).max(1).optional(),
	metadata: JsonObject.optional(),
});
export type Entry = z.infer<typeof Entry>;

/** `memory.store`: an existing key of the agent and namespace is replaced; without a key the store makes one. */
export const StoreInput = z.strictObject({
	agent: z.string().min(1),
	key: z.string().min(1).max(256).optional(),
	content: z.string(),
	category: z.string().optional(),
	session: z.string().optional(),
	namespace: z.string().optional(),
	importance: z.number().min(0).max(1).optional(),
	metadata: JsonObject.optional(),
});
export type StoreInput = z.infer<typeof StoreInput>;
export const StoreOutput = z.strictObject({ key: z.string() });
export type StoreOutput = z.infer<typeof StoreOutput>;

/**
 * A filter. Absent means all; an empty list matches none. `since` is inclusive, `until` exclusive.
 * A filter the store does not know is refused with `unsupported`, never dropped.
 */
const filters = {
	session: z.string().optional(),
	category: z.union([z.string(), z.array(z.string())]).optional(),
	namespace: z.string().optional(),
	since: Time.optional(),
	until: Time.optional(),
};

/** `memory.recall`: `""` or `"*"` gives the newest first; otherwise best match first. Scores are 0 to 1. */
export const RecallInput = z.strictObject({
	agent: z.string().min(1),
	query: z.string(),
	limit: z.number().int().min(0).max(1000),
	...filters,
});
export type RecallInput = z.infer<typeof RecallInput>;
export const RecallOutput = z.strictObject({
	entries: z.array(Entry.extend({ score: z.number().min(0).max(1) })),
});
export type RecallOutput = z.infer<typeof RecallOutput>;

/** `memory.get` and `memory.forget` name one entry. */
export const KeyInput = z.strictObject({
	agent: z.string().min(1),
	key: z.string().min(1),
	namespace: z.string().optional(),
});
export type KeyInput = z.infer<typeof KeyInput>;
/** `memory.get`: an absent entry is the absence of `entry`, not a failure. */
export const GetOutput = z.strictObject({ entry: Entry.optional() });
export type GetOutput = z.infer<typeof GetOutput>;
/** `memory.forget`: whether something was there. */
export const ForgetOutput = z.strictObject({ forgotten: z.boolean() });
export type ForgetOutput = z.infer<typeof ForgetOutput>;

/** `memory.list`: newest first, from `offset`. */
export const ListInput = z.strictObject({
	agent: z.string().min(1),
	limit: z.number().int().min(0).max(1000).optional(),
	offset: z.number().int().nonnegative().optional(),
	...filters,
});
export type ListInput = z.infer<typeof ListInput>;
export const ListOutput = z.strictObject({ entries: z.array(Entry) });
export type ListOutput = z.infer<typeof ListOutput>;

/** `memory.count`. */
export const CountInput = z.strictObject({ agent: z.string().min(1), ...filters });
export type CountInput = z.infer<typeof CountInput>;
export const CountOutput = z.strictObject({ count: z.number().int().nonnegative() });
export type CountOutput = z.infer<typeof CountOutput>;

/** `memory.health`. */
export const MemoryHealthInput = z.strictObject({});
export const MemoryHealthOutput = z.strictObject({ ok: z.boolean(), detail: z.string().optional() });
export type MemoryHealthOutput = z.infer<typeof MemoryHealthOutput>;
