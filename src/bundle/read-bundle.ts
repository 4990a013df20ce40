import { lstat } from "node:fs/promises";
import type { BundleOrigin } from "../contract/index.js";
import type { BundleCaps } from "./file-list.js";
import type { CompileSchema } from "./manifest-rules.js";
import { readArchive } from "./read-archive.js";
import { readFolder } from "./read-folder.js";
import { type Verification, verifyBundle } from "./verify.js";

/** Whether a file name is that of a bundle archive. */
export function isArchiveName(name: string): boolean {
	return /\.(tgz|tar\.gz)$/i.test(name);
}

/**
 * From a folder or a `.tgz` on disk to a verified bundle held as bytes, or to a refusal with all its problems.
 * Neither blocks the thread for long nor writes anything. Rejects only when aborted.
 */
export async function readBundle(
	path: string,
	options: {
		readonly origin?: BundleOrigin;
		readonly compile?: CompileSchema;
		readonly caps?: BundleCaps;
		readonly signal?: AbortSignal;
	} = {},
): Promise<Verification> {
	const { origin = "named", compile, ...reading } = options;
	const state = await lstat(path).catch(() => undefined);
	const read = state?.isFile() && isArchiveName(path) ? readArchive : readFolder;
	const content = await read(path, reading);
	return verifyBundle({
		path,
		origin,
		content,
		...(compile === undefined ? {} : { compile }),
		...(reading.signal === undefined ? {} : { signal: reading.signal }),
	});
}
