export type { AdmittedAgent, RefusedAgent } from "./agents.js";
export { type Home, homeAt, openHome } from "./home.js";
export { droppedBundles, knownBundles } from "./known-bundles.js";
export { kindsOf } from "./load.js";
export { openRuntime, type RuntimeOptions } from "./open.js";
export { firstPartyDigests, hostVersion, resources } from "./resources.js";
export type { Runtime, TurnOptions, TurnResult } from "./runtime.js";
export { dropFolder, openSecretStore, settingsOf } from "./settings.js";
export type { ToolCallRequest, ToolCallResult } from "./tool-call.js";
