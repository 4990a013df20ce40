// Runs in: worker.
import { randomFillSync } from "node:crypto";
import type { CallState } from "./call-state.js";

type WasiFunction = (...args: (number | bigint)[]) => number | undefined;

/** WASI's error numbers that are given here. */
const errno = { success: 0, badFile: 8, fault: 21, invalid: 28, notSupported: 52, notSeekable: 70 } as const;

/** Functions that work. */
const provided = [
	"args_get",
	"args_sizes_get",
	"environ_get",
	"environ_sizes_get",
	"clock_res_get",
	"clock_time_get",
	"random_get",
	"sched_yield",
	"proc_exit",
	"fd_write",
	"fd_read",
	"fd_close",
	"fd_seek",
	"fd_fdstat_get",
	"fd_prestat_get",
] as const;
/** Functions on files and sockets, and sleeping: they can be linked, and answer that there is no such thing. */
const absent = [
	...["fd_advise", "fd_allocate", "fd_datasync", "fd_fdstat_set_flags", "fd_fdstat_set_rights", "fd_filestat_get"],
	...["fd_filestat_set_size", "fd_filestat_set_times", "fd_pread", "fd_prestat_dir_name", "fd_pwrite", "fd_readdir"],
	...["fd_renumber", "fd_sync", "fd_tell", "path_create_directory", "path_filestat_get", "path_filestat_set_times"],
	...["path_link", "path_open", "path_readlink", "path_remove_directory", "path_rename", "path_symlink"],
	...["path_unlink_file", "poll_oneoff", "proc_raise", "sock_accept", "sock_recv", "sock_send", "sock_shutdown"],
];

/** Every function of WASI preview 1. */
export const wasiFunctions: readonly string[] = [...provided, ...absent];

/** Bytes one `random_get` gives, and bytes of one `fd_write` that reach the log. */
const maxRandomBytes = 65_536;
const maxWrittenBytes = 4096;
const standardFiles = 3;

/**
 * WASI preview 1 with nothing behind it: no arguments, no environment, no files, no sockets, no sleep. There are clocks
 * and random bytes; standard input is empty, standard output and error go to the call's log. Unlike `node:wasi` it holds
 * no file descriptors, and nothing in it waits where a deadline could not end it.
 *
 * @param memory the instance's memory; known only after it was instantiated
 */
export function createWasi(
	state: CallState,
	memory: () => WebAssembly.Memory | undefined,
): { readonly [name: string]: WasiFunction } {
	const view = () => new DataView(memory()?.buffer ?? new ArrayBuffer(0));
	/** Runs an access to the guest's memory; outside of it is the guest's own fault, said in WASI's way. */
	const access = (run: (view: DataView) => void): number => {
		try {
			run(view());
			return errno.success;
		} catch (error) {
			if (error instanceof RangeError) return errno.fault;
			throw error;
		}
	};
	const u32 = (value: number | bigint | undefined) => Number(value ?? 0) >>> 0;
	const nothing = (first: number | bigint | undefined, second: number | bigint | undefined) =>
		access((guest) => {
			guest.setUint32(u32(first), 0, true);
			guest.setUint32(u32(second), 0, true);
		});
	const working: { readonly [name in (typeof provided)[number]]: WasiFunction } = {
		args_get: () => errno.success,
		args_sizes_get: (count, size) => nothing(count, size),
		environ_get: () => errno.success,
		environ_sizes_get: (count, size) => nothing(count, size),
		clock_res_get: (_clock, target) => access((guest) => guest.setBigUint64(u32(target), 1_000_000n, true)),
		clock_time_get: (clock, _precision, target) => {
			if (u32(clock) > 1) return errno.invalid;
			const ms = u32(clock) === 0 ? Date.now() : performance.now();
			return access((guest) => guest.setBigUint64(u32(target), BigInt(Math.floor(ms * 1_000_000)), true));
		},
		random_get: (target, size) => {
			if (u32(size) > maxRandomBytes) return errno.invalid;
			return access((guest) => {
				randomFillSync(new Uint8Array(guest.buffer, u32(target), u32(size)));
			});
		},
		sched_yield: () => errno.success,
		proc_exit: (status) => state.exit(u32(status)),
		fd_write: (file, vectors, count, target) => {
			if (u32(file) === 0 || u32(file) >= standardFiles) return errno.badFile;
			return access((guest) => {
				const written = readVectors(guest, u32(vectors), u32(count));
				guest.setUint32(u32(target), written.bytes, true);
				if (written.text.trim() !== "") state.log.add(u32(file) === 1 ? "info" : "warn", written.text.trimEnd());
			});
		},
		fd_read: (file, _vectors, _count, target) =>
			u32(file) === 0 ? access((guest) => guest.setUint32(u32(target), 0, true)) : errno.badFile,
		fd_close: (file) => (u32(file) < standardFiles ? errno.success : errno.badFile),
		fd_seek: (file) => (u32(file) < standardFiles ? errno.notSeekable : errno.badFile),
		fd_fdstat_get: (file, target) => {
			if (u32(file) >= standardFiles) return errno.badFile;
			return access((guest) => {
				const status = new Uint8Array(guest.buffer, u32(target), 24).fill(0);
				// a character device without rights
				status[0] = 2;
			});
		},
		fd_prestat_get: () => errno.badFile,
	};
	return { ...working, ...Object.fromEntries(absent.map((name) => [name, () => errno.notSupported])) };
}

/** How many bytes the vectors hold in all, and the beginning of them as text. */
function readVectors(
	guest: DataView,
	vectors: number,
	count: number,
): { readonly bytes: number; readonly text: string } {
	let bytes = 0;
	let text = "";
	for (let index = 0; index < count; index += 1) {
		const start = guest.getUint32(vectors + index * 8, true);
		const length = guest.getUint32(vectors + index * 8 + 4, true);
		const held = new Uint8Array(guest.buffer, start, length);
		if (text.length < maxWrittenBytes)
			text += new TextDecoder().decode(held.subarray(0, maxWrittenBytes - text.length));
		bytes = Math.min(bytes + length, 2 ** 32 - 1);
	}
	return { bytes, text };
}
