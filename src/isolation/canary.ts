// Runs in: worker.
import type { EffectiveLimits, PluginCode } from "../contract/index.js";

/** A harmless attack that a profile must withstand before it is published. */
export type Canary = {
	readonly name: string;
	/** What holding shows, such as "an endless loop ends at its deadline". */
	readonly shows: string;
	readonly body: CanaryBody;
	readonly limits: EffectiveLimits;
	/** How the call must end: with this text, or broken with one of these codes and no other. */
	readonly expects: { readonly text: string } | { readonly codes: readonly string[] };
};

/** A canary's code: a module that is still to be prepared and whose export is called, or ES-module sources. */
export type CanaryBody =
	| { readonly profile: "wasm"; readonly bytes: Uint8Array; readonly export: string }
	| { readonly profile: "wasm-js"; readonly sources: { readonly [path: string]: string }; readonly entry: string };

/** Small limits: what a canary tries ends soon, and would end by itself within seconds if nothing stopped it. */
export const canaryLimits: EffectiveLimits = {
	memoryBytes: 16 * 2 ** 20,
	cpuMs: 250,
	timeoutMs: 2000,
	outputBytes: 4096,
};
/** For a canary that must be stopped by its thread time. */
export const spinLimits: EffectiveLimits = { ...canaryLimits, cpuMs: 10 };

/** The tool every canary is called as. */
export const canaryTool = "canary";

/** A canary as code that can be opened. */
export function canaryCode(canary: Canary, body: PluginCode["body"]): PluginCode {
	return {
		id: `mortise.canary-${canary.name}`,
		version: "1.0.0",
		digest: "",
		body,
		exports: canary.body.profile === "wasm" ? { [canaryTool]: { export: canary.body.export, input: "json" } } : {},
		hostFunctions: ["log", "now", "random"],
		ungranted: {},
		limits: canary.limits,
		config: {},
	};
}
