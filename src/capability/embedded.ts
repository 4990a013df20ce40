import { effectiveIsolation, type RuntimeDocument, type VerifiedBundle } from "../contract/index.js";
import { type DocumentInput, deriveDocument } from "./derive.js";

/** The profiles that every machine with Node enforces, whatever it has installed. */
const machineIndependent: readonly string[] = ["in-process", "wasm", "wasm-js"];

/**
 * The document of the embedded set, made at build and shipped (rule C4); the live document supersedes it. It claims
 * only the profiles that need nothing of the machine: those described in `isolation` are cut to them.
 */
export function embeddedDocument(
	input: Omit<DocumentInput, "set" | "isolation"> & {
		readonly bundles: readonly Pick<VerifiedBundle, "digest" | "manifest">[];
		readonly nativeMemory: readonly string[];
		readonly nativeStateTargets: readonly string[];
		/** What each profile is, from the isolation room; whether this machine provides it does not count. */
		readonly isolation: readonly Omit<DocumentInput["isolation"][number], "provided" | "reason">[];
	},
): RuntimeDocument {
	const plugins = input.bundles.map((bundle) => ({
		bundle,
		isolation: effectiveIsolation(bundle.manifest.runtime, [bundle.manifest.isolation, "wasm"]),
	}));
	return deriveDocument({
		...input,
		set: { plugins, nativeMemory: input.nativeMemory, nativeStateTargets: input.nativeStateTargets },
		isolation: input.isolation
			.filter((each) => machineIndependent.includes(each.profile))
			.map((each) => ({ ...each, provided: true })),
	});
}
