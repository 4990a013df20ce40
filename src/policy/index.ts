export { createAllowances, type SessionAllowances } from "./allowances.js";
export { type AuditLog, decideOnRecord, openAuditLog } from "./audit.js";
export {
	type ApprovalAnswer,
	type ApprovalQuestion,
	type Approver,
	decide,
	type GateDecision,
	type GateInput,
	type GateRule,
} from "./gate.js";
export { allowsTool, filterTools, resolvePolicy, type ToolLists } from "./policy.js";
export { type AuditCheck, verifyAuditLog } from "./verify-audit.js";
