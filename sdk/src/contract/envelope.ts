import { z } from "zod";
import { Failure } from "./failure.js";
import { JsonObject } from "./json.js";

/**
 * What a plugin of any kind is called with: one door (contract/shapes).
 * `ctx.deadlineMs` is the time left in milliseconds, not a clock. `ctx.config` holds the operator's settings,
 * already checked against the manifest's `config` schema. `ctx.agent` is absent outside a turn.
 */
export const Envelope = z.strictObject({
	v: z.literal(1),
	op: z.string(),
	input: z.unknown(),
	ctx: z.strictObject({
		call: z.string(),
		deadlineMs: z.number().nonnegative(),
		agent: z.string().optional(),
		config: JsonObject.optional(),
	}),
});
export type Envelope = z.infer<typeof Envelope>;

/** What a plugin answers with. */
export const Answer = z.discriminatedUnion("ok", [
	z.strictObject({ ok: z.literal(true), output: z.unknown() }),
	z.strictObject({ ok: z.literal(false), failure: Failure }),
]);
export type Answer = z.infer<typeof Answer>;
