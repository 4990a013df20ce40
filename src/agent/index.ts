export {
	type Admission,
	type AdmitRequest,
	type AdmittedProvider,
	admitAgent,
	type MatchDocument,
} from "./admit.js";
export { createHistory, type History, type SessionRow } from "./history.js";
export { defaultLimits, isRepositoryAllowed, resolveAgent } from "./narrow.js";
export { type PlanRequest, planTurn } from "./plan.js";
export {
	type CheckStatePath,
	manifestPath,
	type ReadRepositoryOptions,
	type Repository,
	readRepository,
} from "./repository.js";
export type { TurnEdges } from "./running-turn.js";
export { type AgentFailure, type AgentSpec, allowsTool, type Narrowed, type Resolution } from "./spec.js";
export { runTurn } from "./turn.js";
