import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { State } from "@mortise/sdk/contract";
import { errorReport } from "../errors.js";
import { type CheckedPath, checkStatePath } from "./path.js";
import { maxStateBytes, type StateOutcome, type StatePlace, type StateTarget } from "./target.js";

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
		return await replace(checked, text);
	} catch (error) {
		const detail = error instanceof Error && "code" in error ? String(error.code) : "unknown";
		return { ok: false, error: errorReport("state.write_failed", { path: checked.path, detail }) };
	}
}

async function replace(checked: CheckedPath, text: string): Promise<StateOutcome> {
	const folder = await makeFolders(checked);
	if (folder === undefined) return moved(checked);
	const staged = join(folder, `.${randomUUID()}.tmp`);
	const handle = await open(
		staged,
		constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
		0o644,
	);
	try {
		try {
			await handle.writeFile(text);
			await handle.sync();
		} finally {
			await handle.close();
		}
		// a folder swapped for a link meanwhile would take the file elsewhere
		if ((await realpath(folder)) !== folder) return moved(checked);
		// renaming replaces a link, it never writes through one
		await rename(staged, join(folder, checked.file));
		return { ok: true };
	} finally {
		await rm(staged, { force: true });
	}
}

/** Makes what is missing, one folder at a time. `undefined` when a part turned out to be a link. */
async function makeFolders(checked: CheckedPath): Promise<string | undefined> {
	let folder = checked.root;
	for (const part of checked.folders) {
		folder = join(folder, part);
		await mkdir(folder).catch((error: unknown) => {
			if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
		});
		if ((await realpath(folder)) !== folder) return undefined;
	}
	return folder;
}

function moved(checked: CheckedPath): StateOutcome {
	const detail = "a folder on the way became a link";
	return { ok: false, error: errorReport("state.path_refused", { path: checked.path, detail }) };
}
