import type { Problem } from "../contract/index.js";
import { problemOf } from "../errors.js";

/**
 * Checks a `SHA256SUMS` file (as coreutils' `sha256sum` writes it, text or binary mode) against the files it stands
 * beside: it must list exactly those (`bundle.sums_invalid`) with their digests (`bundle.digest_mismatch`).
 *
 * @param hashes path → lowercase hex of every other file
 * @param file the place of the list, for the problems
 */
export function checkSums(list: Uint8Array, hashes: ReadonlyMap<string, string>, file: string): readonly Problem[] {
	let text: string;
	try {
		text = new TextDecoder("utf-8", { fatal: true }).decode(list);
	} catch {
		return [problemOf("bundle.sums_invalid", { file }, { detail: "it is not UTF-8" })];
	}
	const problems: Problem[] = [];
	const listed = new Set<string>();
	for (const [index, line] of text.split("\n").entries()) {
		if (line === "") continue;
		const place = { file, line: index + 1, column: 1 };
		const [, expected, path] = /^([0-9a-f]{64}) [ *](?:\.\/)?(.+)$/.exec(line) ?? [];
		if (expected === undefined || path === undefined) {
			problems.push(problemOf("bundle.sums_invalid", place, { detail: "a line is not 'DIGEST  PATH'" }));
			continue;
		}
		const actual = hashes.get(path);
		if (actual === undefined)
			problems.push(problemOf("bundle.sums_invalid", place, { detail: `${path} is not there` }));
		else if (listed.has(path))
			problems.push(problemOf("bundle.sums_invalid", place, { detail: `${path} stands twice` }));
		else if (actual !== expected)
			problems.push(problemOf("bundle.digest_mismatch", place, { path, where: "SHA256SUMS", actual, expected }));
		listed.add(path);
	}
	for (const path of hashes.keys())
		if (!listed.has(path))
			problems.push(problemOf("bundle.sums_invalid", { file }, { detail: `${path} is not listed` }));
	return problems;
}
