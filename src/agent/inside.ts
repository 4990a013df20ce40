import { constants } from "node:fs";
import { type FileHandle, lstat, open as openFile, realpath } from "node:fs/promises";
import { join, relative, sep } from "node:path";

/** The longest path a repository may name, in characters. */
const maxPathLength = 512;

/** Where a path inside a repository leads. `path` is free of links; what follows its last existing part may be missing. */
export type Located =
	| { readonly ok: true; readonly path: string; readonly exists: boolean }
	| { readonly ok: false; readonly kind: "outside" | "unusable"; readonly detail: string };

/** A file's bytes, read once from the handle that was checked. */
export type ReadInside =
	| { readonly ok: true; readonly path: string; readonly bytes: Uint8Array }
	| { readonly ok: false; readonly kind: "outside" | "unusable" | "missing"; readonly detail: string };

/**
 * Finds where a path named by an untrusted repository leads. Refused: absolute paths, backslashes, `.`, `..` and empty
 * parts, anything in `.git`, links that leave the repository (a link inside it is followed), links to nothing.
 *
 * @param root the repository's real path
 * @param path relative to it, with `/`
 */
export async function locateInside(root: string, path: string): Promise<Located> {
	const parts = path.split("/");
	const wrong = lexicalFault(path, parts);
	if (wrong !== undefined) return { ok: false, kind: "outside", detail: wrong };
	let here = root;
	for (const [index, part] of parts.entries()) {
		const next = join(here, part);
		try {
			const stats = await lstat(next);
			here = stats.isSymbolicLink() ? await realpath(next) : next;
		} catch (error) {
			const code = (error as NodeJS.ErrnoException).code ?? "unknown";
			const link = await lstat(next).then(
				(stats) => stats.isSymbolicLink(),
				() => false,
			);
			if (link) return { ok: false, kind: "outside", detail: "it is a link that leads to nothing" };
			if (code === "ENOENT") return { ok: true, path: join(here, ...parts.slice(index)), exists: false };
			return { ok: false, kind: "unusable", detail: code };
		}
		const fault = placeFault(root, here);
		if (fault !== undefined) return { ok: false, kind: "outside", detail: fault };
	}
	return { ok: true, path: here, exists: true };
}

/**
 * Reads a plain file of an untrusted repository, at most `maxBytes`. The file is opened without following a last link,
 * and after opening it is looked for again: when the path now leads to another file than the one opened, nothing is read.
 */
export async function readInside(request: {
	readonly root: string;
	readonly path: string;
	readonly maxBytes: number;
	readonly open?: typeof openFile;
}): Promise<ReadInside> {
	const { root, path, maxBytes, open = openFile } = request;
	const located = await locateInside(root, path);
	if (!located.ok) return located;
	if (!located.exists) return { ok: false, kind: "missing", detail: "there is no such file" };
	let handle: FileHandle | undefined;
	try {
		// a device or a pipe is not even opened: opening can act, or wait for ever
		if (!(await lstat(located.path)).isFile()) return notAFile;
		const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;
		handle = await open(located.path, flags);
		const opened = await handle.stat();
		if (!opened.isFile()) return notAFile;
		const again = await locateInside(root, path);
		const now = again.ok && again.exists ? await lstat(again.path) : undefined;
		if (now?.ino !== opened.ino || now.dev !== opened.dev) {
			return { ok: false, kind: "outside", detail: "it changed while it was being read" };
		}
		const bytes = await readUpTo(handle, maxBytes + 1);
		if (bytes.byteLength > maxBytes)
			return { ok: false, kind: "unusable", detail: `it is larger than ${maxBytes} bytes` };
		return { ok: true, path: located.path, bytes };
	} catch (error) {
		return { ok: false, kind: "unusable", detail: (error as NodeJS.ErrnoException).code ?? String(error) };
	} finally {
		await handle?.close();
	}
}

const notAFile = { ok: false, kind: "unusable", detail: "it is not a plain file" } as const;

function lexicalFault(path: string, parts: readonly string[]): string | undefined {
	if (path.length === 0 || path.length > maxPathLength) return `a path has 1 to ${maxPathLength} characters`;
	if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "it is an absolute path";
	if (path.includes("\\") || path.includes("\0")) return "it holds a backslash or a null character";
	if (parts.some((part) => part === "..")) return "it holds '..'";
	if (parts.some((part) => part === "" || part === ".")) return "it holds an empty part or '.'";
	if (parts.some(isGit)) return "it is in .git";
	return undefined;
}

function placeFault(root: string, path: string): string | undefined {
	const inside = relative(root, path);
	if (inside === ".." || inside.startsWith(`..${sep}`) || inside.startsWith(sep)) {
		return "it goes through a link that leaves the repository";
	}
	return inside.split(sep).some(isGit) ? "it is in .git" : undefined;
}

function isGit(part: string): boolean {
	return part.toLowerCase() === ".git";
}

async function readUpTo(handle: FileHandle, maxBytes: number): Promise<Uint8Array> {
	const chunks: Buffer[] = [];
	let total = 0;
	while (total < maxBytes) {
		const chunk = Buffer.alloc(Math.min(64 * 1024, maxBytes - total));
		const { bytesRead } = await handle.read(chunk, 0, chunk.byteLength, null);
		if (bytesRead === 0) break;
		chunks.push(chunk.subarray(0, bytesRead));
		total += bytesRead;
	}
	return Buffer.concat(chunks);
}
