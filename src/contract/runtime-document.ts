import { z } from "zod";

/** `vMAJOR.MINOR`, without leading zeros (rule C2). */
export const ProtocolVersion = z.string().regex(/^v(0|[1-9]\d*)\.(0|[1-9]\d*)$/, "vMAJOR.MINOR, such as v0.1");
export type ProtocolVersion = z.infer<typeof ProtocolVersion>;

const fields = {
	runtime: z.string().min(1),
	protocol_versions: z.array(ProtocolVersion).min(1),
	agent_capabilities: z.array(z.string()),
	isolation_profiles: z.array(z.string()).min(1),
	state_publication_targets: z.array(z.string()).min(1),
};

/**
 * The capability document (rules C1 to C3). Top-level keys beginning `x-` are extensions, kept and ignored by
 * matching; any other unknown top-level key is invalid.
 */
export const RuntimeDocument = z.intersection(
	z.object(fields).loose(),
	z.record(z.union([z.enum(Object.keys(fields) as [keyof typeof fields]), z.string().regex(/^x-/)]), z.unknown()),
);
export type RuntimeDocument = {
	readonly runtime: string;
	readonly protocol_versions: readonly string[];
	readonly agent_capabilities: readonly string[];
	readonly isolation_profiles: readonly string[];
	readonly state_publication_targets: readonly string[];
	readonly [extension: `x-${string}`]: unknown;
};
