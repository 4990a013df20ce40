export { AgentLimits, AgentManifest, ProviderChoice, RepositoryRequest } from "./agent-manifest.js";
export { AgentSettings, Autonomy, Config, Grant, PolicySettings, ProviderSettings } from "./config.js";
export {
	compareIsolation,
	effectiveIsolation,
	isolationProfiles,
	type ProbedProfile,
	type Strength,
} from "./isolation.js";
export type {
	BundleOrigin,
	EffectiveLimits,
	EffectivePermissions,
	LoadedPlugin,
	LoadedSet,
	RefusedBundle,
	VerifiedBundle,
} from "./loaded-set.js";
export type {
	CallOutcome,
	GateAnswer,
	GateQuestion,
	PlannedTool,
	PluginCode,
	ToolOrigin,
	ToolReport,
	TurnEvent,
	TurnLimits,
	TurnOutcome,
	TurnPlan,
} from "./plan.js";
export type { HostPort, OpenedPlugin, OpenPlugin, PluginCall } from "./plugin.js";
export type { AuditRecord, SecurityPolicy } from "./policy.js";
export type { ErrorReport, Owner, Problem } from "./problem.js";
export { ProtocolVersion, RuntimeDocument } from "./runtime-document.js";
export type { ToolDrop, ToolHolder } from "./tool-names.js";
