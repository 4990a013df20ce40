// The main job on embedded defaults: what is loaded, the document, one agent refused, one run to a reply, its state.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = new URL("../", import.meta.url);
const path = (relative) => fileURLToPath(new URL(relative, root));
const home = path(".mortise");

function mortise(expected, ...args) {
	console.log(`\n$ mortise ${args.map(quote).join(" ")}`);
	const { status } = spawnSync(process.execPath, [path("dist/cli/main.js"), ...args, "--home", home], {
		stdio: ["ignore", "inherit", "inherit"],
		cwd: path("."),
	});
	if (status === expected) return;
	console.error(`\nexpected exit code ${expected}, got ${status}`);
	process.exit(1);
}

const quote = (word) => (/^[\w./=-]+$/.test(word) ? word : `'${word}'`);
const title = (text) => console.log(`\n== ${text}`);

title("What is loaded");
mortise(0, "plugin", "list");

title("The capability document derived from it");
mortise(0, "doc", "--output", ".mortise/living-repos-runtime.json");
mortise(0, "doc", "--format", "yaml");

title("An agent this host cannot honour: every reason, and nothing was run");
mortise(1, "run", "examples/refused-agent/agent", "book me a flight");

title("An agent it can: one WebAssembly tool, one ES-module tool");
mortise(
	0,
	"run",
	"examples/agent-turn/agent",
	'use text_upper with text=hello then use note_add with {"title":"greeting","text":"{result}"}',
);

title("Its published state");
console.log(readFileSync(path("examples/agent-turn/agent/.living/state.json"), "utf8").trimEnd());
