import { BundleId, Manifest } from "@mortise/sdk/contract";
import type { Problem } from "../contract/index.js";
import { checkDocument, yamlSteps } from "../yaml.js";
import { atOnce } from "./in-turns.js";
import { type CompileSchema, checkManifestRules, member } from "./manifest-rules.js";

/** What a manifest says of itself, as far as it can be believed when the rest is wrong. */
export type ManifestClaims = {
	readonly id?: string;
	readonly version?: string;
	readonly kinds?: readonly string[];
	readonly runtime?: "wasm" | "esm";
	readonly entry?: string;
};
/** `manifest` is there only when there are no problems. */
export type ManifestRead = {
	readonly manifest?: Manifest;
	readonly claims: ManifestClaims;
	readonly problems: readonly Problem[];
};

/**
 * Reads the bytes of a `plugin.yaml` (DESIGN section 5) and gives every problem at once, each with file, line, column,
 * pointer and code: `yaml.*` for the file, `schema.invalid` for its shape, `bundle.*` for what goes across fields.
 * One mistake is one problem. Never throws.
 *
 * @param compile compiles the schemas of tools and settings; without it they are taken as they are
 */
export function readManifest(bytes: Uint8Array | string, file: string, compile?: CompileSchema): ManifestRead {
	return atOnce(manifestSteps(bytes, file, compile));
}

/** As {@link readManifest}, in steps of a few milliseconds, for a caller that must not hold its thread. */
export function* manifestSteps(
	bytes: Uint8Array | string,
	file: string,
	compile?: CompileSchema,
): Generator<void, ManifestRead, void> {
	const read = yield* yamlSteps(bytes, file);
	if (read.document === undefined) return { claims: {}, problems: read.problems };
	yield;
	const claims = claimsOf(read.document.value);
	const shape = checkDocument(read.document, Manifest, "schema.invalid");
	yield;
	const rules = yield* checkManifestRules(read.document, compile);
	const problems = [...read.problems, ...merge(shape.ok ? [] : shape.problems, rules)].sort(byPlace);
	return shape.ok && problems.length === 0 ? { manifest: shape.value, claims, problems } : { claims, problems };
}

/** One place, one problem: what a rule says is more exact than the schema, except about the ending of a wrong path. */
function merge(shape: readonly Problem[], rules: readonly Problem[]): Problem[] {
	const wrongShape = new Set(shape.map((problem) => problem.pointer));
	const kept = rules.filter((problem) => problem.code !== "bundle.entry_mismatch" || !wrongShape.has(problem.pointer));
	const ruled = new Set(kept.map((problem) => problem.pointer));
	return [...shape.filter((problem) => !ruled.has(problem.pointer)), ...kept];
}

function byPlace(a: Problem, b: Problem): number {
	return a.line - b.line || a.column - b.column;
}

const kinds = { tools: "tool", providers: "provider", memory: "memory", channels: "channel" } as const;

function claimsOf(value: unknown): ManifestClaims {
	const id = BundleId.safeParse(member(value, "id"));
	const version = Manifest.shape.version.safeParse(member(value, "version"));
	const runtime = Manifest.shape.runtime.safeParse(member(value, "runtime"));
	const entry = Manifest.shape.entry.safeParse(member(value, "entry"));
	const provided = Object.entries(kinds).flatMap(([key, kind]) => {
		const items = member(value, "provides", key);
		return Array.isArray(items) && items.length > 0 ? [kind] : [];
	});
	return {
		...(id.success ? { id: id.data } : {}),
		...(version.success ? { version: version.data } : {}),
		...(provided.length > 0 ? { kinds: provided } : {}),
		...(runtime.success ? { runtime: runtime.data } : {}),
		...(entry.success ? { entry: entry.data } : {}),
	};
}
