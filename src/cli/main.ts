#!/usr/bin/env node
import { Command, CommanderError, Option } from "commander";
import type { CommonOptions, Context } from "./context.js";

type Verb = (context: Context, args: readonly string[], options: Record<string, unknown>) => Promise<number>;

/** What commander has to say, kept until it is known whether it is to be JSON. */
const said = { out: "", error: "" };
const program = new Command("mortise")
	.description("A plugin host for agents: sandboxed bundles in, a capability document out, agents run or refused.")
	.version("0.1.0")
	.addOption(jsonOption().hideHelp())
	.showSuggestionAfterError()
	.configureOutput({
		writeOut: (text) => {
			said.out += text;
		},
		writeErr: (text) => {
			said.error += text;
		},
	})
	.exitOverride();

verb(
	program,
	"run <agent> <message>",
	"run one turn of an agent (an alias, or a repository's folder), then exit",
	() => import("./run.js"),
)
	.option("--session <id>", "go on with a session")
	.option("--yes", "answer every approval with yes")
	.option("--deny", "answer every approval with no");
verb(program, "chat [agent]", "talk with an agent", () => import("./chat.js"))
	.option("--session <id>", "go on with a session")
	.option("--yes", "answer every approval with yes")
	.option("--deny", "answer every approval with no");
verb(program, "call <tool> [json]", "call one tool through the gate, without a model", () => import("./call.js"))
	.option("--bundle <source>", "take the tool from a bundle that is not installed: a folder or a .tgz")
	.addOption(new Option("--profile <profile>", "the weakest isolation profile to accept"))
	.option("--agent <alias>", "under the policy of this agent")
	.option("--yes", "answer every approval with yes")
	.option("--deny", "answer every approval with no");
const doc = verb(program, "doc", "print the capability document", () => import("./doc.js"))
	.addOption(new Option("--format <format>", "how it is written").choices(["yaml", "json"]).default("json"))
	.option("-o, --output <file>", "write it to a file");
verb(doc, "diff <a> <b>", "compare two capability documents", () => import("./doc-diff.js"));
verb(
	program,
	"match <runtime> <manifest>",
	"whether a runtime document can honour an agent's manifest",
	() => import("./match.js"),
);
verb(
	program,
	"validate <files...>",
	"check runtime documents, agent manifests, plugin.yaml files and configurations",
	() => import("./validate.js"),
)
	.option("--strict", "also report what is accepted but not understood")
	.addOption(
		new Option("--format <format>", "how problems are written").choices(["text", "json", "sarif"]).default("text"),
	);
verb(program, "plan <source>", "what installing a bundle (a folder or a .tgz) would change", () => import("./plan.js"));
verb(program, "why <tool>", "who provides a tool, and who lost the name", () => import("./why.js"));
verb(program, "doctor", "check the host, the home folder and the isolation profiles", () => import("./doctor.js"));

const audit = group(program, "audit", "the record of every decision about a tool call");
verb(audit, "verify", "check that no line of it was changed, taken out or put in", () => import("./audit-verify.js"));

const plugin = group(program, "plugin", "bundles: list, inspect, install, remove, enable, disable, logs");
verb(plugin, "list", "every bundle and its state", () => import("./plugin-list.js"));
verb(plugin, "inspect <id>", "one bundle: what it provides, may do, and lost", () => import("./plugin-inspect.js"));
verb(
	plugin,
	"install <source>",
	"install a bundle from a folder or a .tgz",
	() => import("./plugin-install.js"),
).option("--force", "replace an installed bundle that has other content");
verb(plugin, "remove <id>", "remove an installed bundle", () => import("./plugin-remove.js"));
verb(plugin, "enable <id>", "load a disabled bundle again", () => import("./plugin-enable.js"));
verb(plugin, "disable <id>", "keep a bundle but do not load it", () => import("./plugin-disable.js"));
verb(plugin, "logs <id>", "the last lines a plugin logged", () => import("./plugin-logs.js")).option(
	"--lines <count>",
	"how many at most",
	"100",
);

verb(
	program,
	"grant <bundle> <permission>",
	"allow a bundle something it asks for: http:HOST, secret:NAME, kv, isolation:PROFILE",
	() => import("./grant.js"),
);
verb(program, "revoke <bundle> <permission>", "take a grant back", () => import("./revoke.js"));
const secret = group(program, "secret", "secrets in the home folder's store");
verb(secret, "set <name>", "read a value from standard input and keep it", () => import("./secret-set.js"));
verb(secret, "list", "names in the secrets file and the store, never values", () => import("./secret-list.js"));
verb(secret, "remove <name>", "forget a value", () => import("./secret-remove.js"));

process.exitCode = await main(process.argv);

/** Runs the command line and gives its exit code. */
async function main(argv: readonly string[]): Promise<number> {
	try {
		await program.parseAsync([...argv]);
		return Number(process.exitCode ?? 0);
	} catch (error) {
		const { printError, usageError } = await import("./context.js");
		const end = argv.indexOf("--");
		const json = argv.slice(0, end < 0 ? argv.length : end).includes("--json");
		if (!(error instanceof CommanderError)) return printError(error, json);
		const { createOutput } = await import("./output.js");
		const output = createOutput();
		if (error.exitCode === 0) {
			const text = said.out.trimEnd();
			if (json) output.json(error.code === "commander.version" ? { version: text } : { help: text });
			else output.result(said.out);
			return 0;
		}
		// a group without a verb shows its help, which is no sentence
		const sentence = error.code === "commander.help" ? "no verb was given" : error.message.replace(/^error: /, "");
		if (json) return printError(usageError(sentence), true, output);
		output.note(said.error.trimEnd());
		return 2;
	}
}

function jsonOption(): Option {
	return new Option("--json", "print exactly one JSON value on stdout");
}

function group(parent: Command, name: string, description: string): Command {
	return parent.command(name).description(description).addOption(jsonOption().hideHelp()).exitOverride();
}

function verb(
	parent: Command,
	usage: string,
	description: string,
	load: () => Promise<{ readonly run: Verb }>,
): Command {
	return parent
		.command(usage)
		.description(description)
		.addOption(jsonOption())
		.option("--config <file>", "the configuration (default: mortise.yaml here, else the embedded one)")
		.option(
			"--home <folder>",
			"the folder that holds bundles and state (default: .mortise beside mortise.yaml, else your data folder)",
		)
		.exitOverride()
		.action(async (...given: unknown[]) => {
			const command = given.at(-1) as Command;
			const options = command.optsWithGlobals<CommonOptions & Record<string, unknown>>();
			const args = command.processedArgs.flat() as string[];
			const [{ createContext, usageError }, { run }] = await Promise.all([import("./context.js"), load()]);
			const empty = emptyOne(command, options);
			if (empty !== undefined) throw usageError(`${empty} is empty`);
			process.exitCode = await run(createContext(options), args, options);
		});
}

/** What was given as an empty text, such as by a variable of a script that is not set: never what was meant. */
function emptyOne(command: Command, options: Record<string, unknown>): string | undefined {
	const argument = command.registeredArguments.find((_, index) =>
		[command.processedArgs[index]].flat().some((value) => value === ""),
	);
	if (argument !== undefined) return `<${argument.name()}>`;
	return command.options.find((option) => options[option.attributeName()] === "")?.long;
}
