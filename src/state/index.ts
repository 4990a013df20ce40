export type { ControlProcess } from "./control-process.js";
export { type CheckedPath, checkStatePath, defaultStatePath } from "./path.js";
export { maxStateBytes, type StateOutcome, type StatePlace, type StateTarget } from "./target.js";
export { createStateTargets, nativeStateTargets } from "./targets.js";
