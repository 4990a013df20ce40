import {
	BundleId,
	Duration,
	HostPattern,
	IsolationProfile,
	JsonObject,
	Limits,
	SecretName,
	SourceName,
	ToolName,
} from "@mortise/sdk/contract";
import { z } from "zod";
import { AgentLimits } from "./agent-manifest.js";
import { ProtocolVersion } from "./runtime-document.js";

/** What the operator allows one bundle. Effective permission = asked by the manifest ∩ granted here. */
export const Grant = z.strictObject({
	http: z.array(HostPattern).optional(),
	secrets: z.array(SecretName).optional(),
	kv: z.boolean().optional(),
	isolation: IsolationProfile.optional(),
	limits: Limits.optional(),
	/** Settings for the bundle, checked against its manifest's `config` schema. */
	config: JsonObject.optional(),
});
export type Grant = z.infer<typeof Grant>;

/** How much the agent may do by itself (rules of section I). */
export const Autonomy = z.enum(["read-only", "supervised", "full"]);
export type Autonomy = z.infer<typeof Autonomy>;

export const PolicySettings = z.strictObject({
	autonomy: Autonomy.optional(),
	always_ask: z.array(ToolName).optional(),
	auto_approve: z.array(ToolName).optional(),
	workspace: z.string().min(1).optional(),
});
export type PolicySettings = z.infer<typeof PolicySettings>;

/** A provider's name with a model; every further key is a setting for the provider's bundle. */
export const ProviderSettings = z.union([
	SourceName,
	z.object({ name: SourceName, model: z.string().min(1).optional() }).catchall(z.json()),
]);
export type ProviderSettings = z.infer<typeof ProviderSettings>;

/** An agent as the operator names it. An absent list means all, an empty one none; `deny` always subtracts. */
export const AgentSettings = z.strictObject({
	provider: ProviderSettings.optional(),
	instructions: z.string().optional(),
	memory: SourceName.optional(),
	tools: z.strictObject({ allow: z.array(ToolName).optional(), deny: z.array(ToolName).optional() }).optional(),
	policy: PolicySettings.optional(),
	isolation: IsolationProfile.optional(),
	state: z.strictObject({ target: SourceName, path: z.string().min(1).optional() }).optional(),
	secrets: z.array(SecretName).optional(),
	limits: AgentLimits.optional(),
});
export type AgentSettings = z.infer<typeof AgentSettings>;

/**
 * The operator's `mortise.yaml` (contract/shapes). Every key is optional; paths are relative to the file.
 */
export const Config = z.strictObject({
	runtime: z
		.strictObject({ name: z.string().min(1).optional(), protocol_versions: z.array(ProtocolVersion).min(1).optional() })
		.optional(),
	home: z.string().min(1).optional(),
	bundles: z
		.strictObject({
			drop: z.string().min(1).optional(),
			first_party: z.boolean().optional(),
			require_signature: z.enum(["off", "warn", "require"]).optional(),
			publishers: z.array(z.string().min(1)).optional(),
		})
		.optional(),
	grants: z.record(BundleId, Grant).optional(),
	secrets: z
		.strictObject({ from: z.array(z.enum(["env", "file", "store"])), file: z.string().min(1).optional() })
		.optional(),
	/** Native sources the host brings itself. `memory: false` leaves the SQLite store out of the loaded set. */
	native: z.strictObject({ memory: z.boolean().optional() }).optional(),
	/** Where the `control-process` state target writes: an inherited descriptor or a unix socket. */
	control_process: z
		.union([z.strictObject({ fd: z.number().int().min(3).max(1023) }), z.strictObject({ socket: z.string().min(1) })])
		.optional(),
	agents: z
		.record(
			z
				.string()
				.regex(/^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$/, "1 to 64 of a-z 0-9 _ -, with a letter or digit at both ends"),
			AgentSettings,
		)
		.optional(),
	repositories: z
		.strictObject({
			allow: z.array(z.string().min(1)).optional(),
			defaults: AgentSettings.extend({
				/** Providers a repository may choose besides `provider`; absent with no `provider`: any that is loaded. */
				providers: z.array(SourceName).optional(),
			}).optional(),
		})
		.optional(),
	pool: z
		.strictObject({
			threads: z.number().int().min(1).max(64).optional(),
			concurrency: z.number().int().min(1).max(10_000).optional(),
		})
		.optional(),
	server: z
		.strictObject({
			listen: z.string().optional(),
			token_file: z.string().optional(),
			public_document: z.enum(["full", "minimal"]).optional(),
		})
		.optional(),
	limits: z
		.strictObject({
			memory: Limits.shape.memory,
			cpu: Duration.optional(),
			timeout: Duration.optional(),
			output: Limits.shape.output,
		})
		.optional(),
});
export type Config = z.infer<typeof Config>;
