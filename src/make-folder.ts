import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it that are missing; one that is there keeps its mode. Node's own `recursive` does not
 * do: it never ends where a folder exists and cannot hold another, such as below `/proc`.
 *
 * @throws the system's error, `ENOTDIR` where a file has the folder's name
 */
export async function makeFolder(folder: string, mode = 0o777): Promise<void> {
	const refused = await tryFolder(folder, mode);
	if (refused === undefined) return;
	if (refused.code !== "ENOENT" || dirname(folder) === folder) throw refused;
	await makeFolder(dirname(folder), mode);
	const again = await tryFolder(folder, mode);
	if (again !== undefined) throw again;
}

async function tryFolder(folder: string, mode: number): Promise<NodeJS.ErrnoException | undefined> {
	try {
		await mkdir(folder, { mode });
		return undefined;
	} catch (error) {
		const refused = error as NodeJS.ErrnoException;
		if (refused.code !== "EEXIST") return refused;
		const there = await stat(folder);
		return there.isDirectory() ? undefined : Object.assign(new Error(`${folder} is no folder`), { code: "ENOTDIR" });
	}
}
