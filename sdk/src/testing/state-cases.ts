import type { Manifest } from "../contract/manifest.js";
import type { State } from "../contract/state.js";
import { type ConformanceCase, fail, succeed, unknownOperation } from "./case.js";

const state: State = {
	agent: "conformance",
	runtime: "conformance",
	protocol_version: "v0.1.0",
	session: "session-1",
	turn: "turn-1",
	status: "done",
	reply: "Grüße, 世界! 🌍",
	at: "2026-01-01T00:00:00.000Z",
};

/** Cases for a bundle's state target. */
export function stateCases(manifest: Manifest): readonly ConformanceCase[] {
	const none =
		(manifest.provides.state_targets ?? []).length === 0 ? { skip: "the manifest serves no state target" } : {};
	return [
		{
			id: "state.publish",
			title: "every status is published",
			...none,
			async run(opened) {
				for (const status of ["idle", "running", "done", "failed", "interrupted"] as const)
					await succeed(opened, "state.publish", { agent: state.agent, state: { ...state, status } });
			},
		},
		{
			id: "state.invalid",
			title: "a publication without a state fails with invalid_input",
			...none,
			run: (opened) => fail(opened, "state.publish", { agent: state.agent }, "invalid_input"),
		},
		{ ...unknownOperation("state", manifest), ...none },
	];
}
