import { join } from "node:path";
import { HostError } from "../errors.js";
import { verifyAuditLog } from "../policy/index.js";
import { dropFolder, openHome } from "../runtime/index.js";
import { type Context, exitCodes } from "./context.js";

/** `audit verify`: whether each line of the audit log follows from the one before. 0 when all do, 1 when one does not. */
export async function run(context: Context): Promise<number> {
	const loaded = await context.loadConfig();
	const home = await openHome(loaded.home, dropFolder(loaded));
	const file = join(home.logs, "audit.jsonl");
	const check = await verifyAuditLog(file).catch((error: NodeJS.ErrnoException) => {
		throw new HostError("file.unreadable", { file, detail: error.code ?? error.message }, { cause: error });
	});
	const { ok, records, cut, head, brokenAt, detail } = check;
	const torn = cut === 0 ? "" : `; ${cut} lines were cut short by a crash`;
	const text = ok
		? `${records} decisions, each following from the one before${torn}\nhead ${head}`
		: `line ${brokenAt} of ${file}: ${detail}; ${records} decisions before it are whole`;
	context.print(check, text);
	return ok ? exitCodes.ok : exitCodes.refused;
}
