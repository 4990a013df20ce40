import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import { Parser, type ReadEntry } from "tar";
import { type BundleCaps, type BundleContent, createFileList, defaultCaps } from "./file-list.js";

const chunkBytes = 64 * 1024;
/** Headers that only name the next entry may be this long. */
const maxMetaBytes = 64 * 1024;
/** Below this an archive's ratio says nothing: a few small files pad to many zeros. */
const ratioFromBytes = 1024 * 1024;

/**
 * Reads a `.tar.gz` into memory; nothing is ever unpacked to disk. Refused: absolute paths and `..`
 * (`bundle.path_escape`), links (`bundle.link`), devices and pipes (`bundle.special_file`), clashing paths, and the amounts no bundle may
 * hold; a damaged archive is `bundle.archive_invalid`. A single top folder is taken off. Rejects only when aborted.
 */
export async function readArchive(
	archive: string,
	options: { readonly caps?: BundleCaps; readonly signal?: AbortSignal } = {},
): Promise<BundleContent> {
	const { caps = defaultCaps, signal } = options;
	const list = createFileList(archive, caps);
	let handle: FileHandle | undefined;
	try {
		handle = await open(archive, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
		const state = await handle.stat();
		if (!state.isFile()) list.refuse("bundle.special_file", { path: archive, kind: "thing that is no plain file" });
		else if (state.size > caps.archiveBytes)
			list.refuse("bundle.file_too_large", { path: archive, max: caps.archiveBytes });
		else await unpack(handle, state.size);
	} catch (error) {
		signal?.throwIfAborted();
		const { code, message } = error as NodeJS.ErrnoException;
		if (handle !== undefined) list.refuse("bundle.archive_invalid", { detail: code ?? message });
		else if (code === "ELOOP") list.refuse("bundle.link", { path: archive });
		else list.refuse("file.unreadable", { detail: code ?? message });
	} finally {
		await handle?.close();
	}
	return withoutTopFolder(list.content());

	async function unpack(handle: FileHandle, size: number): Promise<void> {
		const entries = createEntryReader(list);
		const packed = handle.createReadStream({ autoClose: false, highWaterMark: chunkBytes });
		const gunzip = createGunzip({ chunkSize: chunkBytes });
		packed.on("error", (error) => gunzip.destroy(error));
		packed.pipe(gunzip);
		// headers and padding come on top of the content
		const maxBytes = caps.totalBytes + (caps.files + 10) * 4 * 512;
		let unpacked = 0;
		try {
			for await (const chunk of gunzip as AsyncIterable<Buffer>) {
				signal?.throwIfAborted();
				if (unpacked === 0 && isCompressed(chunk)) throw new Error("it is packed twice");
				unpacked += chunk.length;
				if (unpacked > ratioFromBytes && unpacked > size * caps.ratio) {
					list.refuse("bundle.ratio", { max: caps.ratio });
					return;
				}
				if (unpacked > maxBytes) {
					list.refuse("bundle.too_large", { max: caps.totalBytes });
					return;
				}
				if (!entries.write(chunk)) return;
			}
			entries.end();
		} finally {
			packed.destroy();
			gunzip.destroy();
		}
	}
}

/** Feeds the tar parser and gathers its entries. `write` gives false when nothing more is to be read. */
function createEntryReader(list: ReturnType<typeof createFileList>) {
	let failure: Error | undefined;
	let stopped = false;
	const admit = (entry: ReadEntry): boolean => {
		const path = pathOf(entry);
		let admission: "take" | "skip" | "stop";
		if (entry.type === "Directory") {
			admission = path === "." || path === "" ? "skip" : list.admitFolder(path);
			if (admission === "take") admission = "skip";
		} else if (entry.type === "SymbolicLink" || entry.type === "Link") admission = list.refuse("bundle.link", { path });
		else if (entry.type !== "File" && entry.type !== "OldFile")
			admission = list.refuse("bundle.special_file", { path, kind: entry.type });
		else if (!Number.isSafeInteger(entry.size) || entry.size < 0) {
			// a pax header may give any number; a negative one would be taken off the sum
			failure ??= new Error("an entry says a size that is none");
			admission = "stop";
		} else admission = list.admit(path, entry.size);
		if (admission === "stop") stopped = true;
		return admission === "take";
	};
	const gather = (entry: ReadEntry): void => {
		const chunks: Buffer[] = [];
		entry.on("data", (chunk) => chunks.push(chunk));
		entry.on("end", () => {
			const content = Buffer.concat(chunks);
			if (content.length === entry.size) list.add(pathOf(entry), content);
			else failure ??= new Error("an entry does not have the size it says");
		});
	};
	const parser = new Parser({
		strict: true,
		brotli: false,
		zstd: false,
		maxMetaEntrySize: maxMetaBytes,
		filter: (_path, entry) => !stopped && admit(entry as ReadEntry),
		onReadEntry: gather,
	});
	parser.on("error", (error: Error) => {
		failure ??= error;
	});
	parser.on("ignoredEntry", (entry: ReadEntry) => {
		if (entry.meta) failure ??= new Error("a name in it is too long");
		else if (entry.unsupported || !knownTypes.has(String(entry.type))) admit(entry);
	});
	const check = (): void => {
		if (failure !== undefined) throw failure;
	};
	return {
		write(chunk: Buffer): boolean {
			parser.write(chunk);
			check();
			return !stopped;
		},
		end(): void {
			parser.end();
			check();
		},
	};
}

/** Types the parser hands to the filter; it leaves every other one out by itself. */
const knownTypes: ReadonlySet<string> = new Set([
	"File",
	"OldFile",
	"Link",
	"SymbolicLink",
	"CharacterDevice",
	"BlockDevice",
	"Directory",
	"FIFO",
	"ContiguousFile",
	"GNUDumpDir",
]);

function pathOf(entry: ReadEntry): string {
	return entry.path.replace(/^(\.\/)+/, "").replace(/(?<=[^/])\/$/, "");
}

function isCompressed(chunk: Buffer): boolean {
	return chunk.length >= 2 && chunk[0] === 0x1f && chunk[1] === 0x8b;
}

function withoutTopFolder(content: BundleContent): BundleContent {
	const tops = new Set([...content.files.keys()].map((path) => path.slice(0, path.indexOf("/") + 1)));
	const [top = ""] = tops;
	if (tops.size !== 1 || top === "") return content;
	return { ...content, files: new Map([...content.files].map(([path, bytes]) => [path.slice(top.length), bytes])) };
}
