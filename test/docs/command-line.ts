import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** A verb as a person types it (`plugin list`), and the options it takes beside those every verb takes. */
export type Verb = { readonly name: string; readonly options: readonly string[] };

const everyVerb = ["--json", "--config", "--home", "--help"];

/** Every verb of the built command line, read from its own help. */
export async function readVerbs(): Promise<readonly Verb[]> {
	return (await verbsBelow([])).filter((verb) => verb.name !== "");
}

async function verbsBelow(words: readonly string[]): Promise<readonly Verb[]> {
	const help = await helpOf(words);
	const below = namesIn(help);
	const found: Verb[] = [];
	for (const name of below) found.push(...(await verbsBelow([...words, name])));
	const options = [...help.matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)].map((match) => match[1] ?? "");
	// a group without options of its own only holds other verbs
	const isGroup = below.length > 0 && !options.includes("--json");
	return isGroup
		? found
		: [{ name: words.join(" "), options: options.filter((name) => !everyVerb.includes(name)) }, ...found];
}

function namesIn(help: string): readonly string[] {
	const list = help.split(/^Commands:\n/m)[1] ?? "";
	return [...list.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1] ?? "").filter((name) => name !== "help");
}

function helpOf(words: readonly string[]): Promise<string> {
	return new Promise((resolve, reject) => {
		execFile(process.execPath, [cli, ...words, "--help"], { encoding: "utf8" }, (error, stdout) =>
			error === null ? resolve(stdout) : reject(error),
		);
	});
}
