import { SecretName } from "@mortise/sdk/contract";
import { escapeText } from "../errors.js";
import { type Context, exitCodes, usageError } from "./context.js";
import { openSecrets } from "./secrets.js";

/** The largest secret, in bytes. */
const maxSecretBytes = 64 * 1024;

/** `secret set NAME`: the value comes from standard input, never from the command line, where others could see it. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
	const [name = ""] = args;
	if (!SecretName.safeParse(name).success) throw usageError(`"${escapeText(name)}" is no secret's name`);
	if (process.stdin.isTTY) context.tell(`Type the value of ${name}, then Enter and Ctrl-D:`);
	const value = (await readInput()).replace(/\r?\n$/, "");
	if (value === "") throw usageError("no value came on standard input");
	const secrets = await openSecrets(context);
	secrets.set(name, value);
	context.print({ name, set: true }, `kept ${name} in the home folder's store (not encrypted; readable by you only)`);
	return exitCodes.ok;
}

async function readInput(): Promise<string> {
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
		size += chunk.byteLength;
		if (size > maxSecretBytes) throw usageError(`the value is larger than ${maxSecretBytes} bytes`);
		chunks.push(chunk);
	}
	return Buffer.concat(chunks).toString("utf8");
}
