import { join } from "node:path";
import { BundleId } from "@mortise/sdk/contract";
import { escapeText, HostError } from "../errors.js";
import { readEnd } from "../read-end.js";
import { dropFolder, openHome } from "../runtime/index.js";
import { type Context, exitCodes, usageError } from "./context.js";

/** What is read of each of the two files, in bytes; a file is no larger. */
const maxBytes = 1024 * 1024;

/** `plugin logs ID`: the last lines a plugin logged, oldest first, also of one that is not loaded any more. */
export async function run(
	context: Context,
	args: readonly string[],
	options: Record<string, unknown>,
): Promise<number> {
	const [id = ""] = args;
	// the id becomes the name of a file
	if (!BundleId.safeParse(id).success) throw usageError(`"${escapeText(id)}" is no bundle id`);
	const count = Number(options.lines);
	if (!Number.isSafeInteger(count) || count < 1 || count > 100_000)
		throw usageError("--lines takes a number from 1 to 100000");
	const loaded = await context.loadConfig();
	const home = await openHome(loaded.home, dropFolder(loaded));
	const lines: string[] = [];
	for (const name of [`${id}.log.1`, `${id}.log`]) lines.push(...(await linesOf(join(home.logs, name))));
	const last = lines.slice(-count);
	context.print({ id, lines: last.map(parsedLine) }, last.join("\n"));
	if (last.length === 0) context.tell(`${id} has logged nothing`);
	return exitCodes.ok;
}

async function linesOf(file: string): Promise<string[]> {
	try {
		return (await readEnd(file, maxBytes)).toString("utf8").split("\n").filter(Boolean);
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		if (code === "ENOENT") return [];
		throw new HostError("file.unreadable", { file, detail: code ?? message }, { cause: error });
	}
}

/** A line as data; as text when it is no JSON, as one that a crash cut short. */
function parsedLine(line: string): unknown {
	try {
		return JSON.parse(line);
	} catch {
		return line;
	}
}
