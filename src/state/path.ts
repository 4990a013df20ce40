import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { join } from "node:path";
import { State } from "@mortise/sdk/contract";
import { errorReport } from "../errors.js";
import { maxStateBytes, type StateOutcome, type StatePlace } from "./target.js";

/** The state file when the agent names none. */
export const defaultStatePath = ".living/state.json";

/** A place for the state file that was checked: the real folder it is in, and its name there. */
export type CheckedPath = {
	readonly ok: true;
	/** The agent's folder with links resolved. */
	readonly root: string;
	/** The folders below it, each a real one or missing so far. */
	readonly folders: readonly string[];
	readonly file: string;
	readonly path: string;
};
type Refusal = Extract<StateOutcome, { ok: false }>;

/**
 * Checks where the state file would go, without changing anything: a relative path inside the root that ends in
 * `.json`, reached through no link, absent or holding a state that was published before. The path comes from a
 * repository, which is untrusted (contract/shapes). Never rejects.
 *
 * Codes: `state.path_refused`, `state.not_ours`.
 */
export async function checkStatePath(place: StatePlace): Promise<CheckedPath | Refusal> {
	const path = place.path ?? defaultStatePath;
	const refused = (detail: string): Refusal => ({
		ok: false,
		error: errorReport("state.path_refused", { path, detail }),
	});
	const fault = faultOf(path);
	if (fault !== undefined) return refused(fault);
	const parts = path.split("/");
	const file = parts.pop() ?? "";
	let root: string;
	try {
		root = await realpath(place.root);
	} catch {
		return refused("the agent's folder does not exist");
	}
	let folder = root;
	for (const part of parts) {
		folder = join(folder, part);
		const kind = await kindOf(folder);
		if (kind === "absent") return { ok: true, root, folders: parts, file, path };
		if (kind === "link") return refused(`${part} is a link`);
		if (kind !== "folder") return refused(`${part} is not a folder`);
	}
	const kind = await kindOf(join(folder, file));
	if (kind === "link") return refused(`${file} is a link`);
	if (kind === "folder" || kind === "other") return refused(`${file} is not a plain file`);
	if (kind === "file" && !(await holdsState(join(folder, file)))) {
		return { ok: false, error: errorReport("state.not_ours", { path }) };
	}
	return { ok: true, root, folders: parts, file, path };
}

function faultOf(path: string): string | undefined {
	if (path.length > 512) return "it is longer than 512 characters";
	if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "it is not relative";
	if (/[\\\p{Cc}\p{Cs}]/u.test(path)) return "it holds a backslash or a control character";
	const parts = path.split("/");
	if (parts.some((part) => part === "" || part === "." || part === "..")) return "it has an empty, '.' or '..' part";
	if (parts.some((part) => part.toLowerCase() === ".git")) return "it lies in .git";
	return path.endsWith(".json") && parts.at(-1) !== ".json" ? undefined : "it does not end in .json";
}

type Kind = "absent" | "link" | "folder" | "file" | "other";

async function kindOf(path: string): Promise<Kind> {
	try {
		const stat = await lstat(path);
		if (stat.isSymbolicLink()) return "link";
		return stat.isDirectory() ? "folder" : stat.isFile() ? "file" : "other";
	} catch (error) {
		return error instanceof Error && "code" in error && error.code === "ENOENT" ? "absent" : "other";
	}
}

/** Whether a file holds a state that was published before: only such a file is ours to overwrite. */
async function holdsState(path: string): Promise<boolean> {
	// no link is followed and no pipe waited for, also when the entry changed since it was looked at
	const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
	try {
		const handle = await open(path, flags);
		try {
			const stat = await handle.stat();
			if (!stat.isFile() || stat.size > maxStateBytes) return false;
			return State.safeParse(JSON.parse(await handle.readFile("utf8"))).success;
		} finally {
			await handle.close();
		}
	} catch {
		return false;
	}
}
