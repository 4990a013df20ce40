import { diffDocuments, diffLines, maxRuntimeDocumentBytes, readBytes, readDocument } from "../capability/index.js";
import { RuntimeDocument } from "../contract/index.js";
import { HostError } from "../errors.js";
import { checkDocument } from "../yaml.js";
import { type Context, exitCodes } from "./context.js";

/** `doc diff A B`: what changed between two capability documents; 0 when nothing, 1 when something. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
	const [a = "", b = ""] = args;
	const changes = diffDocuments(await readRuntimeDocument(a), await readRuntimeDocument(b));
	context.print({ changes }, diffLines(changes).join("\n"));
	return changes.length === 0 ? exitCodes.ok : exitCodes.refused;
}

async function readRuntimeDocument(file: string): Promise<RuntimeDocument> {
	const read = await readBytes(file, maxRuntimeDocumentBytes);
	if ("problem" in read) throw new HostError("input.invalid", { file, count: 1 }, { problems: [read.problem] });
	const { document, problems } = readDocument(read.bytes, file, maxRuntimeDocumentBytes);
	const checked = document === undefined ? undefined : checkDocument(document, RuntimeDocument, "schema.invalid");
	const all = [...problems, ...(checked === undefined || checked.ok ? [] : checked.problems)];
	if (checked === undefined || !checked.ok || all.length > 0) {
		throw new HostError("input.invalid", { file, count: all.length }, { problems: all });
	}
	return checked.value;
}
