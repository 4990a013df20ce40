import { constants, type Stats } from "node:fs";
import { lstat, open, opendir } from "node:fs/promises";
import { join } from "node:path";
import { type BundleCaps, type BundleContent, comparePaths, createFileList, defaultCaps } from "./file-list.js";

// a FIFO that took the place of a file must not hold the open for ever
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads a bundle folder into memory. Refused: links of any kind (`bundle.link`), anything but plain files and folders
 * (`bundle.special_file`), the paths and amounts no bundle may hold. `.DS_Store` and `Thumbs.db` are left out,
 * `node_modules` and `.git` too, with a note. Rejects only when aborted.
 */
export async function readFolder(
	folder: string,
	options: { readonly caps?: BundleCaps; readonly signal?: AbortSignal } = {},
): Promise<BundleContent> {
	const { caps = defaultCaps, signal } = options;
	const list = createFileList(folder, caps);
	const root = await lstat(folder).catch((error: NodeJS.ErrnoException) => error);
	if (root instanceof Error) list.refuse("file.unreadable", { detail: root.code ?? root.message });
	else if (root.isSymbolicLink()) list.refuse("bundle.link", { path: folder });
	else if (!root.isDirectory()) list.refuse("bundle.special_file", { path: folder, kind: kindOf(root) });
	else await walk("");
	return list.content();

	/** Gives false when nothing more is to be read. */
	async function walk(inside: string): Promise<boolean> {
		signal?.throwIfAborted();
		const names: string[] = [];
		try {
			for await (const entry of await opendir(join(folder, inside))) {
				names.push(entry.name);
				if (names.length > caps.files) break;
			}
		} catch (error) {
			return list.refuse("file.unreadable", { path: inside, detail: codeOf(error) }) !== "stop";
		}
		for (const name of names.sort(comparePaths)) {
			const path = inside === "" ? name : `${inside}/${name}`;
			const state = await lstat(join(folder, path)).catch(codeOf);
			let going: boolean;
			if (typeof state === "string") going = list.refuse("file.unreadable", { path, detail: state }) !== "stop";
			else if (state.isDirectory()) {
				const admission = list.admitFolder(path);
				going = admission === "take" ? await walk(path) : admission !== "stop";
			} else if (state.isSymbolicLink()) going = list.refuse("bundle.link", { path }) !== "stop";
			else if (!state.isFile()) going = list.refuse("bundle.special_file", { path, kind: kindOf(state) }) !== "stop";
			else going = await take(path, state);
			if (!going) return false;
		}
		return true;
	}

	async function take(path: string, state: Stats): Promise<boolean> {
		const admission = list.admit(path, state.size);
		if (admission !== "take") return admission !== "stop";
		signal?.throwIfAborted();
		let content: Uint8Array | string;
		try {
			content = await readPlain(join(folder, path), state);
		} catch (error) {
			content = codeOf(error);
		}
		if (typeof content === "string") return list.refuse("file.unreadable", { path, detail: content }) !== "stop";
		list.add(path, content);
		return true;
	}
}

/** The bytes of the very file that was looked at; a sentence when another took its place. */
async function readPlain(path: string, seen: Stats): Promise<Uint8Array | string> {
	const handle = await open(path, openFlags);
	try {
		const state = await handle.stat();
		if (!state.isFile() || state.ino !== seen.ino || state.dev !== seen.dev || state.size !== seen.size)
			return "it changed while it was read";
		const content = Buffer.alloc(state.size);
		let filled = 0;
		while (filled < content.length) {
			const { bytesRead } = await handle.read(content, filled, Math.min(content.length - filled, 1024 * 1024), filled);
			if (bytesRead === 0) return "it changed while it was read";
			filled += bytesRead;
		}
		return content;
	} finally {
		await handle.close();
	}
}

function kindOf(state: Stats): string {
	if (state.isFIFO()) return "pipe";
	if (state.isSocket()) return "socket";
	if (state.isDirectory()) return "folder";
	return state.isFile() ? "plain file" : "device";
}

function codeOf(error: unknown): string {
	const { code, message } = error as NodeJS.ErrnoException;
	return code ?? message;
}
