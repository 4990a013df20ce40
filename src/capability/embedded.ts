import type { IsolationProfile } from "@mortise/sdk/contract";
import { effectiveIsolation, type RuntimeDocument, type VerifiedBundle } from "../contract/index.js";
import { describeProbed } from "../isolation/index.js";
import { type DocumentInput, deriveDocument } from "./derive.js";

/** The profiles that need nothing of a machine but Node. */
const machineIndependent: readonly IsolationProfile[] = ["in-process", "wasm", "wasm-js"];

/**
 * The document of the embedded set, made at build and shipped (rule C4); the live document supersedes it. No
 * machine was probed for it, so it claims only `in-process`, `wasm` and `wasm-js`.
 */
export function embeddedDocument(
	input: Omit<DocumentInput, "set" | "isolation"> & {
		readonly bundles: readonly Pick<VerifiedBundle, "digest" | "manifest">[];
		readonly nativeMemory: readonly string[];
		readonly nativeStateTargets: readonly string[];
	},
): RuntimeDocument {
	const plugins = input.bundles.map((bundle) => ({
		bundle,
		isolation: effectiveIsolation(bundle.manifest.runtime, [bundle.manifest.isolation, "wasm"]),
	}));
	return deriveDocument({
		...input,
		set: { plugins, nativeMemory: input.nativeMemory, nativeStateTargets: input.nativeStateTargets },
		isolation: describeProbed(machineIndependent.map((profile) => ({ profile, provided: true }))),
	});
}
