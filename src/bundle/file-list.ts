import type { Problem } from "../contract/index.js";
import { type ErrorCode, type ErrorFields, escapeText, problemOf } from "../errors.js";

/** What one bundle may hold at most. */
export type BundleCaps = {
	readonly files: number;
	readonly fileBytes: number;
	readonly totalBytes: number;
	/** Bytes of a path inside the bundle. */
	readonly pathBytes: number;
	/** Bytes unpacked for each byte of an archive. */
	readonly ratio: number;
	readonly archiveBytes: number;
};

const mebibyte = 1024 * 1024;
export const defaultCaps: BundleCaps = {
	files: 2000,
	fileBytes: 32 * mebibyte,
	totalBytes: 64 * mebibyte,
	pathBytes: 255,
	ratio: 200,
	archiveBytes: 64 * mebibyte,
};

/** The files of a bundle as they were read, not yet checked as a bundle. `files` is sorted by path (byte order). */
export type BundleContent = {
	readonly files: ReadonlyMap<string, Uint8Array>;
	readonly problems: readonly Problem[];
	readonly notes: readonly Problem[];
};

/** What became of an entry: take its content, leave it out, or stop reading altogether. */
export type Admission = "take" | "skip" | "stop";

const silentlyIgnored: ReadonlySet<string> = new Set([".DS_Store", "Thumbs.db"]);
const ignoredFolders: ReadonlySet<string> = new Set(["node_modules", ".git"]);
/** Past this many problems a bundle is not worth reading on. */
const maxProblems = 50;

/** Collects the files of one bundle and refuses what no bundle may hold, whether it comes from a folder or an archive. */
export function createFileList(bundle: string, caps: BundleCaps) {
	const files = new Map<string, Uint8Array>();
	const problems: Problem[] = [];
	const notes: Problem[] = [];
	const byFolded = new Map<string, { path: string; folder: boolean }>();
	let count = 0;
	let total = 0;
	const refuse = (code: ErrorCode, fields: ErrorFields): Admission => {
		problems.push(problemOf(code, { file: bundle }, fields));
		return problems.length < maxProblems ? "skip" : "stop";
	};
	/** A clash of a path, or of a folder on the way to it, with what was there before. */
	const clash = (path: string, folder: boolean): string | undefined => {
		const parts = path.split("/");
		for (let length = 1; length <= parts.length; length++) {
			const part = parts.slice(0, length).join("/");
			const isFolder = length < parts.length || folder;
			const before = byFolded.get(fold(part));
			if (before === undefined) byFolded.set(fold(part), { path: part, folder: isFolder });
			else if (before.path !== part || !before.folder || !isFolder) return before.path;
		}
		return undefined;
	};
	return {
		refuse,
		/** Asks for a place for a file of `bytes` bytes. */
		admit(path: string, bytes: number): Admission {
			if (isIgnored(path)) return "skip";
			if (++count > caps.files) {
				refuse("bundle.too_many_files", { max: caps.files });
				return "stop";
			}
			const wrong = pathProblem(path, caps);
			if (wrong !== undefined) return refuse(wrong.code, { path, ...(wrong.detail ? { detail: wrong.detail } : {}) });
			const other = clash(path, false);
			if (other !== undefined) return refuse("bundle.path_clash", { path, other });
			if (bytes > caps.fileBytes) return refuse("bundle.file_too_large", { path, max: caps.fileBytes });
			total += bytes;
			if (total > caps.totalBytes) {
				refuse("bundle.too_large", { max: caps.totalBytes });
				return "stop";
			}
			return "take";
		},
		/** Asks whether a folder is to be entered. */
		admitFolder(path: string): Admission {
			const ignored = path.split("/").findIndex((part) => ignoredFolders.has(part));
			if (ignored >= 0) {
				const top = path
					.split("/")
					.slice(0, ignored + 1)
					.join("/");
				note(top);
				return "skip";
			}
			if (++count > caps.files) {
				refuse("bundle.too_many_files", { max: caps.files });
				return "stop";
			}
			const wrong = pathProblem(path, caps);
			if (wrong !== undefined) return refuse(wrong.code, { path, ...(wrong.detail ? { detail: wrong.detail } : {}) });
			const other = clash(path, true);
			return other === undefined ? "take" : refuse("bundle.path_clash", { path, other });
		},
		add(path: string, content: Uint8Array): void {
			files.set(path, content);
		},
		content(): BundleContent {
			const sorted = [...files].sort(([a], [b]) => comparePaths(a, b));
			return { files: new Map(sorted), problems, notes };
		},
	};

	function note(path: string): void {
		const file = `${bundle}/${path}`;
		if (!notes.some((each) => each.file === file))
			notes.push(problemOf("bundle.ignored", { file }, { path: file, detail: "it is left out of the bundle" }));
	}

	function isIgnored(path: string): boolean {
		const parts = path.split("/");
		const folder = parts.slice(0, -1).findIndex((part) => ignoredFolders.has(part));
		if (folder >= 0) {
			note(parts.slice(0, folder + 1).join("/"));
			return true;
		}
		const name = parts.at(-1) ?? "";
		return silentlyIgnored.has(name) || name.startsWith("._");
	}
}

/** Byte order of two paths (UTF-8). */
export function comparePaths(a: string, b: string): number {
	return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function pathProblem(path: string, caps: BundleCaps): { code: ErrorCode; detail?: string } | undefined {
	const parts = path.split("/");
	if (path.startsWith("/") || /^[A-Za-z]:/.test(path) || parts.includes("..")) return { code: "bundle.path_escape" };
	if (path.includes("\\")) return { code: "bundle.path_invalid", detail: "it has a backslash" };
	if (escapeText(path) !== path)
		return { code: "bundle.path_invalid", detail: "it has control or invisible characters" };
	if (path.includes("\ufffd")) return { code: "bundle.path_invalid", detail: "it is not UTF-8" };
	if (parts.some((part) => part === "" || part === "."))
		return { code: "bundle.path_invalid", detail: "it has an empty part" };
	if (Buffer.byteLength(path) > caps.pathBytes)
		return { code: "bundle.path_invalid", detail: `it is longer than ${caps.pathBytes} bytes` };
	return undefined;
}

/** Names that some file system takes for one and the same fold to one string. */
function fold(path: string): string {
	return path.normalize("NFC").toUpperCase().toLowerCase().normalize("NFC");
}
