import { z } from "zod";
import { IsolationProfile } from "./isolation.js";
import { JsonSchema } from "./json.js";
import { BundleId, SecretName, SourceName, ToolName } from "./names.js";
import { Effect } from "./tool.js";

const semver =
	/^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;
const relativePath = z
	.string()
	.min(1)
	.max(512)
	.refine((path) => isInside(path), "a relative path inside the bundle, with '/' and without '..'");

/** A size such as `64MiB` or `256KiB`. */
export const Size = z.string().regex(/^[1-9]\d{0,6}(B|KiB|MiB|GiB)$/, "a whole number followed by B, KiB, MiB or GiB");
/** A duration such as `250ms`, `10s` or `2m`. */
export const Duration = z.string().regex(/^[1-9]\d{0,6}(ms|s|m)$/, "a whole number followed by ms, s or m");

/**
 * A host a plugin asks for: an exact name or address; `*.suffix` (every name under it, not the suffix itself);
 * or `*` (whichever hosts the operator grants). A port may follow.
 */
export const HostPattern = z
	.string()
	.max(255)
	.regex(
		/^(\*|(\*\.)?[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(:[1-9]\d{0,4})?$/,
		"a lowercase host name or address, '*.suffix' or '*', with an optional ':port'",
	);

/** How a secret may leave: `header NAME on HOST`. HOST may be a pattern; `*` is any host granted by name. */
export const SecretUse = z
	.string()
	.max(400)
	.regex(/^header [A-Za-z0-9-]{1,100} on \S+$/, "'header NAME on HOST'");

const reason = z.string().min(1).max(500).optional();

/** A tool a bundle provides. With `export` the named Extism export is called instead of the door. */
export const ManifestTool = z.strictObject({
	name: ToolName,
	description: z.string().min(1).max(4096),
	input: z.union([JsonSchema, z.enum(["text", "json"])]).optional(),
	output: JsonSchema.optional(),
	effects: z.array(Effect).optional(),
	export: z
		.string()
		.regex(
			/^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
			"the name of an export: letters, digits and '_', not beginning with a digit",
		)
		.optional(),
});
export type ManifestTool = z.infer<typeof ManifestTool>;

const features = z.array(z.string().min(1).max(64)).optional();

/** What a bundle asks the operator for; nothing else is linked. */
export const Permissions = z.strictObject({
	http: z.strictObject({ hosts: z.array(HostPattern).min(1).max(100), reason }).optional(),
	secrets: z
		.array(z.strictObject({ name: SecretName, use: SecretUse, reason }))
		.max(50)
		.optional(),
	files: z
		.strictObject({ read: z.array(relativePath).optional(), write: z.array(relativePath).optional(), reason })
		.optional(),
	kv: z.boolean().optional(),
	tools: z.array(ToolName).max(100).optional(),
});
export type Permissions = z.infer<typeof Permissions>;

/** Per-call limits a bundle asks for; the operator's ceiling wins. */
export const Limits = z.strictObject({
	memory: Size.optional(),
	cpu: Duration.optional(),
	timeout: Duration.optional(),
	output: Size.optional(),
});
export type Limits = z.infer<typeof Limits>;

/** `plugin.yaml` (DESIGN section 5). Closed: an unknown key is an error. */
export const Manifest = z.strictObject({
	contract: z.literal(1),
	id: BundleId,
	version: z.string().max(64).regex(semver, "a semantic version such as 1.2.0"),
	description: z.string().min(1).max(1024),
	license: z.string().min(1).max(128).optional(),
	runtime: z.enum(["wasm", "esm"]),
	entry: relativePath,
	isolation: IsolationProfile.optional(),
	provides: z.strictObject({
		tools: z.array(ManifestTool).max(500).optional(),
		providers: z
			.array(z.strictObject({ name: SourceName, models: z.array(z.string().min(1)).optional(), features }))
			.optional(),
		memory: z.array(z.strictObject({ name: SourceName, features })).optional(),
		channels: z.array(z.strictObject({ name: SourceName, features })).optional(),
		state_targets: z.array(SourceName).optional(),
		agent_capabilities: z
			.array(
				z
					.string()
					.regex(/^[a-z][a-z0-9_]{0,63}$/, "a capability such as plan_trips: a-z 0-9 _, beginning with a letter"),
			)
			.optional(),
	}),
	permissions: Permissions.optional(),
	config: JsonSchema.optional(),
	limits: Limits.optional(),
});
export type Manifest = z.infer<typeof Manifest>;

function isInside(path: string): boolean {
	if (path.startsWith("/") || path.includes("\\") || path.includes("\0")) return false;
	return path
		.replace(/\/$/, "")
		.split("/")
		.every((part) => part !== "" && part !== "." && part !== "..");
}
