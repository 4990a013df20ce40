import { closeSync, fstatSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import writeFileAtomic from "write-file-atomic";
import { holdLock } from "../database.js";
import { HostError } from "../errors.js";

const maxBytes = 256 * 1024;

/**
 * Reads a small file that only the host's user may write (or, with `secret`, read); undefined when it is not there.
 *
 * @throws HostError `private_file.exposed`, `private_file.unreadable`
 */
export function readPrivateFile(file: string, access: "owner-writes" | "owner-reads"): string | undefined {
	let descriptor: number;
	try {
		descriptor = openSync(file, "r");
	} catch (error) {
		if (codeOf(error) === "ENOENT") return undefined;
		throw new HostError("private_file.unreadable", { file, detail: codeOf(error) });
	}
	try {
		const status = fstatSync(descriptor);
		if (!status.isFile()) throw new HostError("private_file.unreadable", { file, detail: "it is not a plain file" });
		if (status.size > maxBytes) throw new HostError("private_file.unreadable", { file, detail: "it is too large" });
		const owner = process.getuid?.();
		if (owner !== undefined && status.uid !== owner && status.uid !== 0)
			throw new HostError("private_file.unreadable", { file, detail: "it belongs to another user" });
		const isWindows = owner === undefined;
		if (!isWindows && (status.mode & 0o022) !== 0)
			throw new HostError("private_file.exposed", { file, access: "written" });
		if (!isWindows && access === "owner-reads" && (status.mode & 0o044) !== 0)
			throw new HostError("private_file.exposed", { file, access: "read" });
		return readFileSync(descriptor, "utf8");
	} finally {
		closeSync(descriptor);
	}
}

/**
 * Writes a file whole or not at all, readable and writable by its owner only. The folder is made when it is missing.
 *
 * @throws HostError `private_file.unreadable`
 */
export function writePrivateFile(file: string, text: string): void {
	try {
		mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
		writeFileAtomic.sync(file, text, { mode: 0o600 });
	} catch (error) {
		throw new HostError("private_file.unreadable", { file, detail: codeOf(error) });
	}
}

/**
 * Runs a change of a private file, reading and writing it, while no other process changes one of the same folder.
 *
 * @throws HostError `private_file.unreadable` when another process holds it for longer than ten seconds
 */
export function changePrivateFile<T>(file: string, change: () => T): T {
	const folder = dirname(file);
	let release: () => void;
	try {
		mkdirSync(folder, { recursive: true, mode: 0o700 });
		release = holdLock(join(folder, "files.lock"));
	} catch (error) {
		throw new HostError("private_file.unreadable", { file, detail: codeOf(error) }, { cause: error });
	}
	try {
		return change();
	} finally {
		release();
	}
}

function codeOf(error: unknown): string {
	return error instanceof Error && "code" in error ? String(error.code) : "it cannot be opened";
}
