// Runs in: worker.
import type { IsolationProfile } from "@mortise/sdk/contract";
import {
	type CallOutcome,
	type ErrorReport,
	type HostPort,
	isolationProfiles,
	type OpenPlugin,
	type PluginCode,
	type ProbedProfile,
} from "../contract/index.js";
import { reportOf } from "../errors.js";
import { type Canary, canaryCode, canaryTool } from "./canary.js";
import { describeProfile } from "./profile.js";
import { wasmCanaries } from "./wasm.js";
import { wasmJsCanaries } from "./wasm-js.js";

/** Makes a module safe to instantiate, as it is done for bundles. Never rejects. */
export type PrepareModule = (
	bytes: Uint8Array,
	options: { readonly memoryBytes: number },
) => Promise<
	{ readonly ok: true; readonly module: WebAssembly.Module } | { readonly ok: false; readonly error: ErrorReport }
>;

export type ProbeOptions = {
	/** Needed for the profile `wasm`; without it that profile is not provided. */
	readonly prepare?: PrepareModule;
};

const canaries: { readonly [profile in IsolationProfile]?: readonly Canary[] } = {
	wasm: wasmCanaries,
	"wasm-js": wasmJsCanaries,
};

/**
 * Finds out which isolation profiles this machine and this version really provide, by attacking each with canaries
 * (rule C10, DESIGN section 8). A canary counts only when it ends as it must, for the reason it must. All seven profiles
 * are in the answer, weakest first; one that is not provided says why. Takes about 100 ms. Never rejects.
 *
 * @param open the very function that opens plugins; it runs canaries in this thread
 */
export async function probeProfiles(open: OpenPlugin, options: ProbeOptions = {}): Promise<readonly ProbedProfile[]> {
	const probed: ProbedProfile[] = [];
	for (const profile of isolationProfiles) {
		const reason = await findFault(profile, open, options);
		probed.push(reason === undefined ? { profile, provided: true } : { profile, provided: false, reason });
	}
	return probed;
}

/** Why a profile is not provided; nothing when it is. */
async function findFault(
	profile: IsolationProfile,
	open: OpenPlugin,
	options: ProbeOptions,
): Promise<string | undefined> {
	if (!describeProfile(profile).implemented) return "not implemented in this version";
	// one by one: two at a time would share the thread, and a deadline of one would hold up the other
	for (const canary of canaries[profile] ?? []) {
		const found = await runCanary(canary, open, options);
		if (found !== undefined) return `the canary "${canary.name}" did not show that ${canary.shows}: ${found}`;
	}
	return undefined;
}

/** What was wrong with how a canary ended; nothing when it ended as it must. */
async function runCanary(canary: Canary, open: OpenPlugin, options: ProbeOptions): Promise<string | undefined> {
	const host = refusingHost();
	try {
		const body = await prepareBody(canary, options);
		if ("missing" in body) return body.missing;
		const outcome = "code" in body ? failed(body) : await open(canaryCode(canary, body), host.port).call(probeCall);
		if (host.asked.length > 0) return `it reached the host's ${host.asked.join(", ")}`;
		return judge(canary, outcome);
	} catch (error) {
		return judge(canary, failed(reportOf(error)));
	}
}

const probeCall = {
	op: "tool.call",
	input: { name: canaryTool, arguments: {} },
	call: "canary",
	timeoutMs: 5000,
} as const;

async function prepareBody(
	{ body, limits }: Canary,
	{ prepare }: ProbeOptions,
): Promise<PluginCode["body"] | ErrorReport | { readonly missing: string }> {
	if (body.profile === "wasm-js") return { profile: "wasm-js", entry: body.entry, sources: body.sources };
	if (prepare === undefined) return { missing: "there is nothing that prepares modules" };
	const prepared = await prepare(body.bytes, { memoryBytes: limits.memoryBytes });
	return prepared.ok ? { profile: "wasm", module: prepared.module, wasi: false } : prepared.error;
}

function judge({ expects }: Canary, outcome: CallOutcome): string | undefined {
	if ("codes" in expects) {
		if (outcome.ok) return "it went through";
		return expects.codes.includes(outcome.error.code) ? undefined : `it ended in ${outcome.error.code}`;
	}
	if (!outcome.ok) return `it ended in ${outcome.error.code}`;
	const text = textOf(outcome.output);
	return text === expects.text ? undefined : `it found ${JSON.stringify(text.slice(0, 200))}`;
}

function textOf(output: unknown): string {
	const content = typeof output === "object" && output !== null && "content" in output ? output.content : undefined;
	const first: unknown = Array.isArray(content) ? content[0] : undefined;
	return typeof first === "object" && first !== null && "text" in first ? String(first.text) : "";
}

function failed(error: ErrorReport): CallOutcome {
	return { ok: false, error, retryable: false, ms: 0 };
}

/** A host that takes note of whatever reaches it: nothing may. */
function refusingHost(): { readonly port: HostPort; readonly asked: string[] } {
	const asked: string[] = [];
	const refuse = (name: string) => {
		asked.push(name);
		return { ok: false, failure: { code: "internal", message: "a canary reached the host" } } as const;
	};
	return { asked, port: { call: async (name) => refuse(name), callBlocking: (name) => refuse(name) } };
}
