export { type CallOptions, type CallResult, type ConformanceCase, ConformanceFailure, type Opened } from "./case.js";
export {
	type ConformanceKind,
	type ConformanceOptions,
	type ConformanceOutcome,
	conformance,
	conformanceKinds,
	runConformance,
} from "./conformance.js";
export { openInProcess } from "./open-in-process.js";
export { createTestHost, type ScriptedResponse, type TestHost, type TestHostOptions } from "./test-host.js";
