import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import writeFileAtomic from "write-file-atomic";
import type { RuntimeDocument } from "../contract/index.js";
import { documentBytes, etagOf } from "./bytes.js";

/**
 * Writes the document to a file so that a reader sees the old one or the new one whole (rule C4). The format follows
 * the ending: `.yaml` or `.yml` is YAML, anything else JSON. Missing folders are made. Gives the bytes' entity tag.
 *
 * @throws the file system's own error when it cannot be written
 */
export async function publishDocument(document: RuntimeDocument, file: string): Promise<{ readonly etag: string }> {
	const bytes = documentBytes(document, /\.ya?ml$/i.test(file) ? "yaml" : "json");
	await mkdir(dirname(file), { recursive: true });
	await writeFileAtomic(file, Buffer.from(bytes), { mode: 0o644 });
	return { etag: etagOf(bytes) };
}
