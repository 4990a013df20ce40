import { z } from "zod";

/** A bundle id: dotted or dashed lowercase words, at most 64 characters (DESIGN section 5). */
export const BundleId = z
	.string()
	.max(64)
	.regex(/^[a-z0-9]+([.-][a-z0-9]+)*$/, "lowercase words joined by '.' or '-'");
export type BundleId = z.infer<typeof BundleId>;

/** The pattern every tool name must match, whatever its origin (rule R133). */
export const toolNamePattern = /^[A-Za-z0-9_-]{1,64}$/;

/** A tool name, compared exactly (rule R133). */
export const ToolName = z.string().regex(toolNamePattern, "1 to 64 of A-Z a-z 0-9 _ -");
export type ToolName = z.infer<typeof ToolName>;

/** The name of a provider, memory store, channel or state target: the same shape as a bundle id. */
export const SourceName = BundleId;
export type SourceName = z.infer<typeof SourceName>;

/** The name of a secret: an environment-variable name, at most 128 characters. */
export const SecretName = z
	.string()
	.max(128)
	.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "letters, digits and '_', not beginning with a digit");
export type SecretName = z.infer<typeof SecretName>;

/** The four kinds of capability a bundle can provide. */
export const Kind = z.enum(["provider", "memory", "tool", "channel"]);
export type Kind = z.infer<typeof Kind>;
