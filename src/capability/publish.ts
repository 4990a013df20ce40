import { dirname, resolve } from "node:path";
import writeFileAtomic from "write-file-atomic";
import type { RuntimeDocument } from "../contract/index.js";
import { HostError } from "../errors.js";
import { makeFolder } from "../make-folder.js";
import { documentBytes, etagOf } from "./bytes.js";

/**
 * Writes the document to a file so that a reader sees the old one or the new one whole (rule C4). The format follows
 * the ending: `.yaml` or `.yml` is YAML, anything else JSON. Missing folders are made. Gives the bytes' entity tag.
 *
 * @throws HostError `file.unwritable`
 */
export async function publishDocument(document: RuntimeDocument, file: string): Promise<{ readonly etag: string }> {
	const bytes = documentBytes(document, /\.ya?ml$/i.test(file) ? "yaml" : "json");
	try {
		await makeFolder(dirname(resolve(file)));
		await writeFileAtomic(file, Buffer.from(bytes), { mode: 0o644 });
	} catch (error) {
		const detail = error instanceof Error ? error.message : String(error);
		throw new HostError("file.unwritable", { file, detail }, { cause: error });
	}
	return { etag: etagOf(bytes) };
}
