import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { FolderMoved, type HeldFolder, withinFolder } from "../held-folder.js";
import { makeFolder } from "../make-folder.js";

/** Why the workspace does not do what a model asked; the message is for the model. */
export class WorkspaceRefusal extends Error {}

/** The largest file that is read or written, in bytes. */
export const maxFileBytes = 1024 * 1024;
const maxPathBytes = 4096;
const maxComponents = 64;

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | (constants.O_NOCTTY ?? 0);
const newFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** Where a file of a workspace is: its folder, held open, and its name. */
type Place = { readonly folder: HeldFolder; readonly name: string };

/**
 * Reads a plain file below `root`. Every folder on the way is opened one by one without following links, and the next
 * step starts from the open folder, so a link or a swap never leads out. Links, folders, devices and pipes are refused.
 *
 * @throws WorkspaceRefusal for what the model can read and correct; anything else is the host's own failure
 */
export async function readWorkspaceFile(root: string, path: string): Promise<Buffer> {
	return await within(root, path, false, async ({ folder, name }) => {
		const file = await openIn(folder, name, readFlags);
		try {
			const stat = await file.stat();
			if (stat.isDirectory()) throw new WorkspaceRefusal(`${path} is a folder`);
			if (!stat.isFile()) throw new WorkspaceRefusal(`${path} is not a plain file`);
			if (stat.size > maxFileBytes) throw tooLarge(path, stat.size);
			// one byte more than allowed, so that a file that grows meanwhile is noticed
			const buffer = Buffer.alloc(maxFileBytes + 1);
			let length = 0;
			while (length < buffer.length) {
				const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
				if (bytesRead === 0) break;
				length += bytesRead;
			}
			if (length > maxFileBytes) throw tooLarge(path, length);
			return buffer.subarray(0, length);
		} finally {
			await file.close();
		}
	});
}

/**
 * Writes a plain file below `root`, making missing folders. The new content takes the place of the old in one step: a
 * reader sees one or the other. Confined as `readWorkspaceFile` is.
 *
 * @throws WorkspaceRefusal for what the model can read and correct; anything else is the host's own failure
 */
export async function writeWorkspaceFile(
	root: string,
	path: string,
	content: Uint8Array,
	signal: AbortSignal,
): Promise<void> {
	if (content.length > maxFileBytes) throw tooLarge(path, content.length);
	await makeFolder(root, 0o700);
	await within(root, path, true, async ({ folder, name }) => {
		const mode = await modeOf(folder, name, path);
		const temporary = `.${randomBytes(12).toString("hex")}.part`;
		const file = await openIn(folder, temporary, newFlags, mode);
		try {
			try {
				await file.writeFile(content);
				await file.sync();
			} finally {
				await file.close();
			}
			signal.throwIfAborted();
			await rename(join(folder.path, temporary), join(folder.path, name));
		} catch (error) {
			await unlink(join(folder.path, temporary)).catch(() => undefined);
			throw error;
		}
	});
}

async function within<T>(root: string, path: string, make: boolean, work: (place: Place) => Promise<T>): Promise<T> {
	const components = componentsOf(path);
	const name = components.pop() ?? "";
	try {
		return await withinFolder(root, components, { make }, (folder) => work({ folder, name }));
	} catch (error) {
		throw worded(error, path);
	}
}

async function openIn(folder: HeldFolder, name: string, flags: number, mode?: number): Promise<FileHandle> {
	return await open(join(folder.path, name), flags, mode);
}

// an existing file keeps its mode; anything but a plain file is not replaced
async function modeOf(folder: HeldFolder, name: string, path: string): Promise<number> {
	try {
		const stat = await lstat(join(folder.path, name));
		if (stat.isSymbolicLink()) throw new WorkspaceRefusal(`${path} is a link; links are not followed`);
		if (stat.isDirectory()) throw new WorkspaceRefusal(`${path} is a folder`);
		if (!stat.isFile()) throw new WorkspaceRefusal(`${path} is not a plain file`);
		return stat.mode & 0o777;
	} catch (error) {
		if (codeOf(error) === "ENOENT") return 0o644;
		throw error;
	}
}

function componentsOf(path: string): string[] {
	const refuse = (detail: string): never => {
		throw new WorkspaceRefusal(`the path is not allowed: ${detail}`);
	};
	if (path === "") refuse("it is empty");
	if (Buffer.byteLength(path) > maxPathBytes) refuse(`it is longer than ${maxPathBytes} bytes`);
	if (/\p{Cc}/u.test(path)) refuse("it holds a control character");
	if (path.includes("\\")) refuse("use / between folders");
	if (path.startsWith("/")) refuse("it must be relative to the workspace");
	if (path.endsWith("/")) refuse("it names a folder");
	if (process.platform === "win32" && path.includes(":")) refuse("it holds a colon");
	const components = path.split("/").filter((component) => component !== ".");
	if (components.includes("..")) refuse("it must not hold ..");
	if (components.includes("")) refuse("it holds an empty name");
	if (components.length === 0) refuse("it names a folder");
	if (components.length > maxComponents) refuse(`more than ${maxComponents} folders`);
	return components;
}

function worded(error: unknown, path: string): unknown {
	if (error instanceof FolderMoved) return new WorkspaceRefusal("a folder on the way is a link");
	switch (codeOf(error)) {
		case "ENOENT":
			return new WorkspaceRefusal(`${path} does not exist in the workspace`);
		case "ELOOP":
			return new WorkspaceRefusal(`${path} is a link; links are not followed`);
		case "ENOTDIR":
			return new WorkspaceRefusal(`${path} leads through something that is not a folder, or through a link`);
		case "EISDIR":
			return new WorkspaceRefusal(`${path} is a folder`);
		case "ENXIO":
			return new WorkspaceRefusal(`${path} is not a plain file`);
		case "ENAMETOOLONG":
			return new WorkspaceRefusal(`${path.slice(0, 100)}… has a name that is too long`);
		case "EACCES":
		case "EPERM":
			return new WorkspaceRefusal(`the operating system does not permit this on ${path}`);
		default:
			return error;
	}
}

function tooLarge(path: string, bytes: number): WorkspaceRefusal {
	return new WorkspaceRefusal(`${path} has ${bytes} bytes, more than the ${maxFileBytes} allowed`);
}

function codeOf(error: unknown): unknown {
	return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
