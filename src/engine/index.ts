export type { HostPort, OpenedPlugin, OpenPlugin, PluginCall } from "../contract/index.js";
export { parseAnswer, type ReadAnswer, readAnswer } from "./answer.js";
export { openPlugin } from "./open.js";
export { type BundleCode, type Prepared, prepareBody, probePlugin } from "./probe.js";
export { type PreparedModule, type PrepareOptions, prepareModule } from "./wasm/prepare.js";
export { door, openWasm } from "./wasm/wasm.js";
export { type StretchOutcome, underDeadline } from "./watchdog.js";
