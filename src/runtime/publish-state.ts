import type { State } from "@mortise/sdk/contract";
import type { CallOutcome, ErrorReport, LoadedSet } from "../contract/index.js";
import { errorReport } from "../errors.js";
import type { StateTarget } from "../state/index.js";
import type { AdmittedAgent } from "./agents.js";

/** Where a state went, or why it did not. A failing publication never undoes a turn. */
export type Published = { readonly target: string } & (
	| { readonly ok: true }
	| { readonly ok: false; readonly error: ErrorReport }
);

export type Publishing = {
	/** The runtime's name, as in the document. */
	readonly runtime: string;
	/** The host's own targets. */
	readonly targets: ReadonlyMap<string, StateTarget>;
	readonly set: LoadedSet;
	/** `state.publish` of a bundle that serves a target. */
	readonly callPlugin: (bundle: string, input: unknown) => Promise<CallOutcome>;
	readonly now?: () => Date;
};

/** Publishes an agent's state to the target it names; undefined when it names none. Never rejects. */
export async function publishState(
	admitted: AdmittedAgent,
	state: Pick<State, "session" | "turn" | "status" | "reply" | "error">,
	publishing: Publishing,
): Promise<Published | undefined> {
	const { spec, place, protocolVersion } = admitted;
	const target = spec.state?.target;
	if (target === undefined || place === undefined) return undefined;
	const whole: State = {
		agent: spec.name,
		runtime: publishing.runtime,
		protocol_version: protocolVersion,
		...state,
		at: (publishing.now?.() ?? new Date()).toISOString(),
	};
	const native = publishing.targets.get(target);
	if (native !== undefined) return { target, ...(await native.publish(whole, place)) };
	const plugin = publishing.set.plugins.find((each) =>
		(each.bundle.manifest.provides.state_targets ?? []).includes(target),
	);
	if (plugin === undefined) return { target, ok: false, error: errorReport("state.no_target", { target }) };
	const outcome = await publishing.callPlugin(plugin.bundle.manifest.id, { agent: spec.key, state: whole });
	return outcome.ok ? { target, ok: true } : { target, ok: false, error: outcome.error };
}
