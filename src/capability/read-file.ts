import type { Problem } from "../contract/index.js";
import { problemOf } from "../errors.js";
import { readStart } from "../read-start.js";
import { maxDocumentBytes, type PlacedDocument, readYaml } from "../yaml.js";

/** The largest capability document that is read, in bytes: a host with thousands of tools publishes a long one. */
export const maxRuntimeDocumentBytes = 4 * 1024 * 1024;

/** What a file held. `document` is there with the problems when something could be read. */
export type ReadDocument = { readonly document?: PlacedDocument; readonly problems: readonly Problem[] };

/** As `readStart`, with what kept it from being read as a problem. Never rejects. */
export async function readBytes(
	file: string,
	maxBytes: number,
): Promise<{ readonly bytes: Uint8Array } | { readonly problem: Problem }> {
	try {
		return { bytes: await readStart(file, maxBytes) };
	} catch (error) {
		return { problem: problemOf("file.unreadable", { file }, { detail: reasonOf(error) }) };
	}
}

/**
 * Reads YAML, or JSON where the file's name ends in `.json`: there, YAML that is no JSON is a problem. JSON larger than
 * YAML may be is read without places. Never throws.
 */
export function readDocument(bytes: Uint8Array, file: string, maxBytes = maxDocumentBytes): ReadDocument {
	if (bytes.byteLength > maxBytes) return { problems: [problemOf("yaml.too_large", { file }, { maxBytes })] };
	const json = /\.json$/i.test(file) ? readJson(bytes) : undefined;
	if (bytes.byteLength > maxDocumentBytes && json?.ok === true) {
		return { document: { file, value: json.value, at: () => ({ line: 0, column: 0 }) }, problems: [] };
	}
	const read = readYaml(bytes, file);
	if (json?.ok !== false || read.problems.length > 0) return read;
	return { problems: [problemOf("yaml.syntax", { file, line: 1, column: 1 }, { detail: "this is not JSON" })] };
}

function readJson(bytes: Uint8Array): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
	try {
		return { ok: true, value: JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) };
	} catch {
		return { ok: false };
	}
}

const reasons: { readonly [code: string]: string } = {
	ENOENT: "it does not exist",
	EACCES: "permission denied",
	EPERM: "permission denied",
	EISDIR: "it is a folder",
	ENOTDIR: "a part of its path is no folder",
	ELOOP: "too many links",
};

function reasonOf(error: unknown): string {
	const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
	return reasons[code] ?? code;
}
