import { Duration, IsolationProfile, SecretName, SourceName, ToolName } from "@mortise/sdk/contract";
import { z } from "zod";

/** How long, how often and how many steps a turn of the agent may take. */
export const AgentLimits = z.strictObject({
	turns: z.number().int().positive().max(100_000).optional(),
	iterations: z.number().int().positive().max(1000).optional(),
	timeout: Duration.optional(),
});
export type AgentLimits = z.infer<typeof AgentLimits>;

/** A provider by name, or with a model. */
export const ProviderChoice = z.union([
	SourceName,
	z.strictObject({ name: SourceName, model: z.string().min(1).optional() }),
]);
export type ProviderChoice = z.infer<typeof ProviderChoice>;

/** What a repository asks of this runtime: it can only narrow what the operator allows (contract/shapes). */
export const RepositoryRequest = z.strictObject({
	instructions: z.string().min(1).optional(),
	provider: ProviderChoice.optional(),
	tools: z.array(ToolName).optional(),
	memory: SourceName.optional(),
	limits: AgentLimits.optional(),
});
export type RepositoryRequest = z.infer<typeof RepositoryRequest>;

/** `.living/manifest.yaml` (contract/shapes), as the strict `validate` reads it. `match` reads it leniently (rule C7). */
export const AgentManifest = z
	.object({
		protocol_version: z.string().regex(/^v?(0|[1-9]\d*)\.(0|[1-9]\d*)(\.(0|[1-9]\d*))?$/, "a version such as v0.1.0"),
		agent_capabilities: z.array(z.string().min(1)),
		isolation_profile: IsolationProfile,
		state_publication: z.object({ target: SourceName, path: z.string().min(1).optional() }).strict(),
		secrets: z.array(SecretName).optional(),
		"x-mortise": RepositoryRequest.optional(),
	})
	.catchall(z.unknown());
export type AgentManifest = z.infer<typeof AgentManifest>;
