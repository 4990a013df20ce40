import { z } from "zod";

/** What is published of an agent (contract/shapes). `at` is ISO 8601 UTC. */
export const State = z.strictObject({
	agent: z.string(),
	runtime: z.string(),
	protocol_version: z.string(),
	session: z.string(),
	turn: z.string(),
	status: z.enum(["idle", "running", "done", "failed", "interrupted"]),
	reply: z.string().optional(),
	error: z.string().optional(),
	at: z.iso.datetime(),
});
export type State = z.infer<typeof State>;

/** `state.publish`. */
export const PublishInput = z.strictObject({ agent: z.string(), state: State });
export type PublishInput = z.infer<typeof PublishInput>;
export const PublishOutput = z.strictObject({});
