// Opens a runtime on a home folder, as the command line does, and prints how long its event loop was held at most.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { loadConfig, readEnvironment } from "../../dist/config.js";
import { createLineLogger } from "../../dist/log.js";
import { openRuntime } from "../../dist/runtime/index.js";

const environment = readEnvironment();
const loaded = await loadConfig({ home: process.argv[2] }, environment);
const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
const runtime = await openRuntime({ loaded, environment, log: createLineLogger(() => undefined) });
delay.disable();
const { plugins, refused } = runtime.set;
await runtime.close();
process.stdout.write(JSON.stringify({ loaded: plugins.length, refused: refused.length, heldMs: delay.max / 1e6 }));
