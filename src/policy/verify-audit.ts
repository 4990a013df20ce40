import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { firstLink, linkOf } from "./audit.js";

/** What became of checking an audit log. `brokenAt` counts from 1. */
export type AuditCheck = {
	readonly ok: boolean;
	readonly records: number;
	/** Lines that a crash cut short; they are linked as they are. */
	readonly cut: number;
	/** The link to the last line: whoever noted it before can see that no line was taken off since. */
	readonly head: string;
	readonly brokenAt?: number;
	readonly detail?: string;
};

/**
 * Follows the links of an audit log from its first line. A line that was changed, taken out or put in breaks the link of
 * the line after it. That the newest lines were taken off cannot be seen from the file alone. A log that is not there
 * has no records.
 *
 * @throws the system's error when the file cannot be read
 */
export async function verifyAuditLog(path: string): Promise<AuditCheck> {
	let link = firstLink;
	let records = 0;
	let cut = 0;
	let number = 0;
	try {
		const lines = createInterface({ input: createReadStream(path, "latin1"), crlfDelay: 0 });
		for await (const line of lines) {
			number += 1;
			const bytes = Buffer.from(line, "latin1");
			const read = parse(bytes.toString("utf8"));
			if (read === undefined) cut += 1;
			else if (read.prev !== link) {
				const detail = "it does not follow from the line before it: one of the two was changed, or a line between them";
				return { ok: false, records, cut, head: link, brokenAt: number, detail };
			} else records += 1;
			link = linkOf(bytes);
		}
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
	}
	return { ok: true, records, cut, head: link };
}

/** The link a line holds, if it holds one; undefined where it is no JSON, as when it was cut short. */
function parse(line: string): { readonly prev: unknown } | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return { prev: typeof value === "object" && value !== null ? Reflect.get(value, "prev") : undefined };
	} catch {
		return undefined;
	}
}
