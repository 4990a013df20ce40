import { constants, existsSync } from "node:fs";
import { type FileHandle, lstat, mkdir, open, realpath } from "node:fs/promises";
import { join } from "node:path";

/** A folder held open. `path` leads to what was opened, whatever takes its place in the tree meanwhile. */
export type HeldFolder = { readonly handle: FileHandle; readonly path: string };

/** A folder on the way became a link while it was opened; only where the system cannot start a path from an open folder. */
export class FolderMoved extends Error {}

const folderFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Where an open folder can be used as the start of a path, so that nothing before it can be swapped any more. */
const descriptors = existsSync("/proc/self/fd") ? "/proc/self/fd" : undefined;

/**
 * Opens the folder at `root/components…` and runs the work in it. Every folder is opened one by one without following
 * links, and the next step starts from the open folder, so neither a link nor a swap under way leads out. `root` itself
 * may be reached by links. With `make`, folders that are missing are made.
 *
 * @throws the system's error (`ELOOP` or `ENOTDIR` for a link, `ENOENT`), `FolderMoved`, and whatever the work throws
 */
export async function withinFolder<T>(
	root: string,
	components: readonly string[],
	options: { readonly make: boolean },
	work: (folder: HeldFolder) => Promise<T>,
): Promise<T> {
	const opened: FileHandle[] = [];
	try {
		let folder = await hold(await realpath(root), opened);
		for (const component of components) {
			const next = join(folder.path, component);
			if (options.make) await mkdir(next, { mode: 0o755 }).catch(ignoreExisting);
			folder = await hold(next, opened);
		}
		return await work(folder);
	} finally {
		for (const handle of opened.reverse()) await handle.close();
	}
}

async function hold(path: string, opened: FileHandle[]): Promise<HeldFolder> {
	const handle = await open(path, folderFlags);
	opened.push(handle);
	if (descriptors !== undefined) return { handle, path: `${descriptors}/${handle.fd}` };
	// no way to start from an open folder here: at least what was opened must be what stands at the path without links
	const [held, named] = await Promise.all([handle.stat(), lstat(path)]);
	if (held.dev !== named.dev || held.ino !== named.ino || (await realpath(path)) !== path) throw new FolderMoved(path);
	return { handle, path };
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
	if (error.code !== "EEXIST") throw error;
}
