import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { story } from "../story.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

await story(async (mortise, home) => {
	// a bundle is a folder: the manifest, and one file that holds everything it needs
	const bundle = join(home, "parrot");
	mkdirSync(bundle);
	copyFileSync(here("./plugin.yaml"), join(bundle, "plugin.yaml"));
	await build({
		entryPoints: [here("./src/plugin.ts")],
		outfile: join(bundle, "plugin.js"),
		bundle: true,
		format: "esm",
		target: "es2022",
		platform: "neutral",
	});
	assert.equal(mortise("validate", join(bundle, "plugin.yaml")).status, 0);

	// try it without installing it
	const call = (json, ...more) => mortise("call", "parrot_say", json, "--bundle", bundle, "--yes", "--json", ...more);
	assert.equal(call('{"text":"hello","times":2}').json().content[0].text, "hello hello");
	assert.equal(call('{"text":"hello","times":11}').status, 1);
	assert.deepEqual(mortise("plan", bundle, "--json").json().grants, ["mortise grant parrot kv"]);

	// install it, with settings and two agents that use it
	writeFileSync(
		join(home, "mortise.yaml"),
		JSON.stringify({
			grants: { parrot: { config: { loud: true } } },
			agents: {
				echo: { provider: { name: "parrot", model: "parrot-1" } },
				keeper: {
					provider: "offline",
					memory: "parrot",
					policy: { auto_approve: ["parrot_say", "memory_store", "memory_recall"] },
				},
			},
		}),
	);
	assert.equal(mortise("plugin", "install", bundle).status, 0);
	assert.equal(mortise("run", "echo", "good morning", "--json").json().reply, "You said: good morning");
	assert.match(mortise("run", "keeper", "use parrot_say with text=hello", "--json").json().reply, /HELLO!/);

	// what was not granted is refused with the command that grants it
	const refused = mortise("run", "keeper", "remember the milk is blue", "--json").json();
	assert.match(refused.reply, /mortise grant parrot kv/);
	assert.equal(mortise("grant", "parrot", "kv").status, 0);
	assert.match(mortise("run", "keeper", "remember the milk is blue", "--json").json().reply, /remembered/);
	assert.match(mortise("run", "keeper", "recall milk", "--json").json().reply, /the milk is blue/);
});
