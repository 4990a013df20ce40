import { z } from "zod";

/** `vMAJOR.MINOR`, without leading zeros (rule C2). */
export const ProtocolVersion = z
	.string()
	.regex(/^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$/, "a version vMAJOR.MINOR, such as v0.1");
export type ProtocolVersion = z.infer<typeof ProtocolVersion>;

const fields = {
	runtime: z.string(),
	protocol_versions: z.array(ProtocolVersion).min(1),
	agent_capabilities: z.array(z.string()),
	isolation_profiles: z.array(z.string()).min(1),
	state_publication_targets: z.array(z.string()).min(1),
};

/**
 * The capability document (rules C1 to C3). Top-level keys beginning `x-` are extensions, kept and ignored by
 * matching; any other unknown top-level key is invalid. The JSON Schema says the same with `patternProperties`.
 */
export const RuntimeDocument: z.ZodType<RuntimeDocument> = z
	.looseObject(fields)
	// runs beside the fields' own checks, so that an unknown key and a wrong field are reported together
	.superRefine(
		(value: unknown, context) => {
			if (typeof value !== "object" || value === null || Array.isArray(value)) return;
			const keys = Object.keys(value).filter((key) => !Object.hasOwn(fields, key) && !key.startsWith("x-"));
			if (keys.length === 0) return;
			const message = `unknown keys: ${keys.join(", ")}`;
			context.addIssue({ code: "unrecognized_keys", keys, message });
		},
		{ when: () => true },
	)
	.meta({
		title: "Runtime capability document",
		patternProperties: { "^x-": {} },
		additionalProperties: false,
	}) as z.ZodType<RuntimeDocument>;
export type RuntimeDocument = {
	readonly runtime: string;
	readonly protocol_versions: readonly string[];
	readonly agent_capabilities: readonly string[];
	readonly isolation_profiles: readonly string[];
	readonly state_publication_targets: readonly string[];
	readonly [extension: `x-${string}`]: unknown;
};
