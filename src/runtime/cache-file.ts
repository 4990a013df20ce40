import { readFile } from "node:fs/promises";
import writeFileAtomic from "write-file-atomic";

/**
 * A small JSON file of results that can be found again by running: lost or damaged means empty. Keys name everything the
 * result depends on.
 */
export type CacheFile<T> = {
	readonly get: (key: string) => T | undefined;
	readonly set: (key: string, value: T) => void;
	/** Writes what was set, in one piece; a failing write is ignored, since nothing is lost. */
	readonly save: () => Promise<void>;
};

const maxEntries = 5000;

export async function openCacheFile<T>(file: string, isEntry: (value: unknown) => value is T): Promise<CacheFile<T>> {
	const entries = new Map<string, T>();
	try {
		const read: unknown = JSON.parse(await readFile(file, "utf8"));
		for (const [key, value] of Object.entries(read ?? {})) if (isEntry(value)) entries.set(key, value);
	} catch {}
	let changed = false;
	return {
		get: (key) => entries.get(key),
		set: (key, value) => {
			entries.set(key, value);
			changed = true;
		},
		save: async () => {
			if (!changed) return;
			changed = false;
			const kept = [...entries].slice(-maxEntries);
			await writeFileAtomic(file, JSON.stringify(Object.fromEntries(kept)), { mode: 0o600 }).catch(() => undefined);
		},
	};
}
