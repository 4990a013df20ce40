import { resolve } from "node:path";

/**
 * Whether a real path matches an operator's pattern. `*` stands for any characters within one part of the path, `**` as a
 * whole part for any number of parts, none included. Everything else is compared exactly.
 *
 * @param pattern absolute, or relative to `folder`; `..` is taken literally, before matching
 * @param folder the real path of the configuration's folder
 * @param path a real path
 */
export function matchesGlob(pattern: string, folder: string, path: string): boolean {
	return matchParts(partsOf(resolve(folder, pattern)), partsOf(path));
}

function partsOf(path: string): string[] {
	return path.split("/").filter((part) => part !== "");
}

/** Which prefixes of `parts` the pattern read so far covers: one pass, whatever the pattern. */
function matchParts(pattern: readonly string[], parts: readonly string[]): boolean {
	let reached = new Set([0]);
	for (const wanted of pattern) {
		const next = new Set<number>();
		for (const at of reached) {
			if (wanted === "**") for (let end = at; end <= parts.length; end += 1) next.add(end);
			else {
				const part = parts[at];
				if (part !== undefined && matchPart(wanted, part)) next.add(at + 1);
			}
		}
		reached = next;
	}
	return reached.has(parts.length);
}

/** `*` within one part, without backtracking further than the last star. */
function matchPart(wanted: string, part: string): boolean {
	const [first = "", ...rest] = wanted.split("*");
	if (rest.length === 0) return wanted === part;
	const last = rest.pop() ?? "";
	if (!part.startsWith(first) || !part.endsWith(last) || part.length < first.length + last.length) return false;
	let from = first.length;
	for (const piece of rest) {
		const found = part.indexOf(piece, from);
		if (found < 0) return false;
		from = found + piece.length;
	}
	return from <= part.length - last.length;
}
