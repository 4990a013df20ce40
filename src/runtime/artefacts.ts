import { createHash } from "node:crypto";
import { maxFileBytes, writeWorkspaceFile } from "../tools/index.js";

/** The folder of a workspace where whole outputs are kept that were cut for the model. */
const folder = ".artefacts";

/**
 * Keeps the whole of a tool's output in the agent's workspace and gives its path there, which `file_read` takes; an
 * output larger than one file may be is kept as several. The name is made of the turn and a digest of the call's id:
 * a model chose that, and it is no path.
 */
export async function keepArtefact(workspace: string, turn: string, call: string, text: string): Promise<string> {
	const base = `${folder}/${turn}-${createHash("sha256").update(call).digest("hex").slice(0, 12)}`;
	const bytes = Buffer.from(text, "utf8");
	const parts = Math.max(1, Math.ceil(bytes.byteLength / maxFileBytes));
	const nameOf = (part: number) => (parts === 1 ? `${base}.txt` : `${base}.${part + 1}.txt`);
	for (let part = 0; part < parts; part += 1) {
		const piece = bytes.subarray(part * maxFileBytes, (part + 1) * maxFileBytes);
		await writeWorkspaceFile(workspace, nameOf(part), piece, new AbortController().signal);
	}
	return parts === 1 ? nameOf(0) : `${nameOf(0)} to ${nameOf(parts - 1)}`;
}
