export { createPool, type Pool, type PoolOptions, type RunOptions } from "./pool.js";
export type { Job, JobEdges, JobResult, ProbeSpec } from "./protocol.js";
