import type { Problem } from "../contract/index.js";
import { maxDocumentBytes } from "../yaml.js";
import { invalidDocument, type Match, matchDocument, unreadableManifest } from "./match.js";
import { maxRuntimeDocumentBytes, readBytes, readDocument } from "./read-file.js";

/**
 * Matches the document in one file with the manifest in another (rule C7). Never rejects: a document that is missing,
 * unreadable or invalid gives one `schema` failure; a manifest that cannot be read fails all four rules.
 */
export async function matchFiles(runtimePath: string, manifestPath: string): Promise<Match> {
	const document = await readValue(runtimePath, maxRuntimeDocumentBytes);
	if (!document.ok) return invalidDocument(document.detail);
	const manifest = await readValue(manifestPath, maxDocumentBytes);
	// the document's own fault comes first: without it no rule can be tried
	const matched = matchDocument(document.value, manifest.ok ? manifest.value : {});
	if (manifest.ok || matched.failures.some((each) => each.rule === "schema")) return matched;
	return unreadableManifest(manifest.detail);
}

async function readValue(
	file: string,
	maxBytes: number,
): Promise<{ ok: true; value: unknown } | { ok: false; detail: string }> {
	const read = await readBytes(file, maxBytes);
	if ("problem" in read) return { ok: false, detail: read.problem.message };
	const { document, problems } = readDocument(read.bytes, file, maxBytes);
	if (document === undefined || problems.length > 0) return { ok: false, detail: problems.map(place).join("; ") };
	return { ok: true, value: document.value };
}

function place(problem: Problem): string {
	return problem.line === 0 ? problem.message : `line ${problem.line}, column ${problem.column}: ${problem.message}`;
}
