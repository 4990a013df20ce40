import { z } from "zod";

/** The closed list of codes a plugin may fail with (contract/shapes, "The door"). */
export const FailureCode = z.enum([
	"invalid_input",
	"unknown_op",
	"not_found",
	"unauthorized",
	"rate_limited",
	"unavailable",
	"unsupported",
	"cancelled",
	"internal",
]);
export type FailureCode = z.infer<typeof FailureCode>;

/** Why an operation failed. `retryAfterMs` is a wait in milliseconds, given with `rate_limited` or `unavailable`. */
export const Failure = z.strictObject({
	code: FailureCode,
	message: z.string(),
	retryable: z.boolean().optional(),
	retryAfterMs: z.number().int().nonnegative().optional(),
});
export type Failure = z.infer<typeof Failure>;
