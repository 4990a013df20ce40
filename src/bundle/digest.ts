import { createHash } from "node:crypto";
import { comparePaths } from "./file-list.js";
import { inTurns } from "./in-turns.js";

const pieceBytes = 512 * 1024;
/** The list of digests a bundle may carry; it cannot be in its own list. */
export const sumsFile = "SHA256SUMS";

/** The digest of a bundle and of each of its files (lowercase hex). */
export type BundleDigest = { readonly digest: string; readonly hashes: ReadonlyMap<string, string> };

/**
 * The digest of a bundle: `sha256:` and the hex SHA-256 over one line `<sha256 hex>  <path>\n` a file, sorted by path
 * (byte order), `SHA256SUMS` left out. Independent of the order of the map. Rejects only when aborted.
 */
export function digestFiles(files: ReadonlyMap<string, Uint8Array>, signal?: AbortSignal): Promise<BundleDigest> {
	return inTurns(digestSteps(files), signal);
}

function* digestSteps(files: ReadonlyMap<string, Uint8Array>): Generator<void, BundleDigest, void> {
	const hashes = new Map<string, string>();
	const whole = createHash("sha256");
	for (const path of [...files.keys()].sort(comparePaths)) {
		if (path === sumsFile) continue;
		const content = files.get(path) ?? new Uint8Array();
		const hash = createHash("sha256");
		for (let from = 0; from < content.length; from += pieceBytes) {
			hash.update(content.subarray(from, from + pieceBytes));
			yield;
		}
		const hex = hash.digest("hex");
		hashes.set(path, hex);
		whole.update(`${hex}  ${path}\n`);
	}
	return { digest: `sha256:${whole.digest("hex")}`, hashes };
}
