import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { State } from "@mortise/sdk/contract";
import { errorReport } from "../errors.js";
import { FolderMoved, withinFolder } from "../held-folder.js";
import { type CheckedPath, checkStatePath } from "./path.js";
import { maxStateBytes, type StateOutcome, type StatePlace, type StateTarget } from "./target.js";

const newFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/**
 * The target `file`: one JSON file in the agent's folder, replaced whole, so that a reader sees the old state or the new
 * one. The path is checked again at every publication. Codes: `state.path_refused`, `state.not_ours`,
 * `state.too_large`, `state.write_failed`.
 */
export function createFileTarget(): StateTarget {
	return {
		name: "file",
		check: async (place) => {
			const checked = await checkStatePath(place);
			return checked.ok ? { ok: true } : checked;
		},
		publish: publishFile,
		close: () => {},
	};
}

async function publishFile(state: State, place: StatePlace): Promise<StateOutcome> {
	const checked = await checkStatePath(place);
	if (!checked.ok) return checked;
	const text = `${JSON.stringify(state, null, 2)}\n`;
	const bytes = Buffer.byteLength(text);
	if (bytes > maxStateBytes) {
		return { ok: false, error: errorReport("state.too_large", { bytes, maxBytes: maxStateBytes }) };
	}
	try {
		await replace(checked, text);
		return { ok: true };
	} catch (error) {
		if (isLinkOnTheWay(error)) {
			const detail = "a folder on the way became a link";
			return { ok: false, error: errorReport("state.path_refused", { path: checked.path, detail }) };
		}
		const detail = error instanceof Error && "code" in error ? String(error.code) : "unknown";
		return { ok: false, error: errorReport("state.write_failed", { path: checked.path, detail }) };
	}
}

/**
 * Puts the text in the place of the file, from a folder that is held open: one that is swapped for a link after it was
 * checked does not take the file elsewhere.
 */
function replace(checked: CheckedPath, text: string): Promise<void> {
	return withinFolder(checked.root, checked.folders, { make: true }, async ({ path }) => {
		const staged = join(path, `.${randomUUID()}.tmp`);
		const handle = await open(staged, newFlags, 0o644);
		try {
			try {
				await handle.writeFile(text);
				await handle.sync();
			} finally {
				await handle.close();
			}
			// renaming replaces a link, it never writes through one
			await rename(staged, join(path, checked.file));
		} finally {
			await rm(staged, { force: true });
		}
	});
}

function isLinkOnTheWay(error: unknown): boolean {
	if (error instanceof FolderMoved) return true;
	return error instanceof Error && "code" in error && (error.code === "ELOOP" || error.code === "ENOTDIR");
}
