// Runs in: worker.
export type { HostPort, OpenedPlugin, OpenPlugin, PluginCall } from "../contract/index.js";
