import type { BundleOrigin, Problem, RefusedBundle, VerifiedBundle } from "../contract/index.js";
import { problemOf } from "../errors.js";
import { digestFiles, sumsFile } from "./digest.js";
import type { BundleContent } from "./file-list.js";
import { inTurns } from "./in-turns.js";
import type { CompileSchema } from "./manifest-rules.js";
import { type ManifestClaims, manifestSteps } from "./read-manifest.js";
import { checkSums } from "./sha256sums.js";
import { checkWasmFraming } from "./wasm-framing.js";

/** The manifest of a bundle, at its top. */
export const manifestFile = "plugin.yaml";

/** A verified bundle, or why it is none. `notes` are things left out of it. */
export type Verification = (
	| { readonly ok: true; readonly bundle: VerifiedBundle }
	| { readonly ok: false; readonly refused: RefusedBundle }
) & { readonly notes: readonly Problem[] };

/**
 * From content in memory to a verified bundle: manifest, entry, `SHA256SUMS` when there is one, digest. Every problem
 * is reported at once. The bytes checked are the bytes of the result. Rejects only when aborted.
 */
export async function verifyBundle(input: {
	readonly path: string;
	readonly origin: BundleOrigin;
	readonly content: BundleContent;
	readonly compile?: CompileSchema;
	readonly signal?: AbortSignal;
}): Promise<Verification> {
	const { path, origin, content, compile, signal } = input;
	const { files, notes } = content;
	const problems: Problem[] = [...content.problems];
	const whole = problems.length === 0;
	const manifestBytes = files.get(manifestFile);
	let claims: ManifestClaims = {};
	if (manifestBytes === undefined) {
		if (whole) problems.push(problemOf("bundle.no_manifest", { file: path }));
		return { ok: false, refused: refusal(path, claims, problems), notes };
	}
	const place = `${path}/${manifestFile}`;
	const read = await inTurns(manifestSteps(manifestBytes, place, compile), signal);
	claims = read.claims;
	problems.push(...read.problems);
	// what was not read whole would only be reported as missing
	if (!whole) return { ok: false, refused: refusal(path, claims, problems), notes };

	problems.push(...checkEntry(claims, files, place));
	if (claims.runtime === "esm") problems.push(...checkText(files, path));
	const { digest, hashes } = await digestFiles(files, signal);
	const sums = files.get(sumsFile);
	if (sums !== undefined) problems.push(...checkSums(sums, hashes, `${path}/${sumsFile}`));
	if (read.manifest === undefined || problems.length > 0)
		return { ok: false, refused: refusal(path, claims, problems, digest), notes };
	return { ok: true, bundle: { origin, path, manifest: read.manifest, files, digest }, notes };
}

/** A refusal with what the manifest claims. */
export function refusal(
	path: string,
	claims: ManifestClaims,
	problems: readonly Problem[],
	digest?: string,
): RefusedBundle {
	const { entry: _entry, ...shown } = claims;
	return { path, ...shown, ...(digest === undefined ? {} : { digest }), state: "refused", problems };
}

function checkEntry(claims: ManifestClaims, files: ReadonlyMap<string, Uint8Array>, place: string): Problem[] {
	const { entry, runtime } = claims;
	if (entry === undefined) return [];
	const content = files.get(entry);
	if (content === undefined) return [problemOf("bundle.entry_missing", { file: place, pointer: "/entry" }, { entry })];
	if (runtime !== "wasm") return [];
	const framing = checkWasmFraming(content);
	return framing.ok
		? []
		: [problemOf(framing.code, { file: place, pointer: "/entry" }, { entry, detail: framing.detail })];
}

/** Every module of an ESM bundle is text. */
function checkText(files: ReadonlyMap<string, Uint8Array>, bundle: string): Problem[] {
	return [...files].flatMap(([path, content]) => {
		if (!/\.m?js$/.test(path)) return [];
		try {
			new TextDecoder("utf-8", { fatal: true }).decode(content);
			return [];
		} catch {
			return [problemOf("bundle.not_text", { file: `${bundle}/${path}` }, { path })];
		}
	});
}
