import { errorReport } from "../errors.js";
import type { JobEdges } from "../pool/index.js";

/** What a job gets that must ask nothing of the main thread: every question is answered with a refusal. */
export const noEdges: JobEdges = {
	gate: async () => ({ allowed: false, rule: "host", reason: "no tool runs here" }),
	native: async () => ({ ok: false, error: errorReport("host.internal", { detail: "no tool runs here" }) }),
	host: async () => ({ ok: false, failure: { code: "unsupported", message: "nothing answers here" } }),
	code: async () => ({ ok: false, error: errorReport("host.internal", { detail: "no plugin runs here" }) }),
	artefact: async () => ({ id: "" }),
	event: () => undefined,
};
