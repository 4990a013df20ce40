export { type Broker, type BrokerOptions, type BrokerRequest, callCaps, createBroker } from "./broker.js";
export { firstPartyGrant, firstPartyGrants } from "./first-party-grants.js";
export { type GrantWord, grantCommand, parseGrantWord } from "./grant-word.js";
export {
	createGrantStore,
	type GrantedBundle,
	type GrantStore,
	type GrantStoreOptions,
	type RevokeResult,
} from "./grants.js";
export { decideHost, type HostDecision } from "./host-decision.js";
export {
	type HostPattern,
	matchesHost,
	parseHostPattern,
	type Target,
	targetOf,
	writeHostPattern,
} from "./host-pattern.js";
export { httpCaps } from "./http-message.js";
export { createKv, kvCaps } from "./kv.js";
export { defaultCeiling, defaultLimits, effectiveLimits, parseDuration, parseSize } from "./limits.js";
export { effectivePermissions, grantWords, hostFunctionsOf } from "./permissions.js";
export { logCaps } from "./plugin-log.js";
export { createRedactor, type Redactor } from "./redact.js";
export { createSecretStore, type SecretSource, type SecretStore, type SecretStoreOptions } from "./secrets.js";
export type { Resolve } from "./transport.js";
