import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { story } from "../story.mjs";

await story((mortise, home) => {
	const agent = join(home, "agent");
	cpSync(fileURLToPath(new URL("./agent", import.meta.url)), agent, { recursive: true });

	// one WebAssembly tool, then one ES-module tool that is given the first one's result
	const message = 'use text_upper with text=hello then use note_add with {"title":"greeting","text":"{result}"}';
	const turn = mortise("run", agent, message, "--json").json();
	assert.deepEqual(
		turn.tools.map((tool) => [tool.name, tool.owner, tool.decision, tool.ok]),
		[
			["text_upper", "text-kit", "allow", true],
			["note_add", "kv-notes", "allow", true],
		],
	);
	assert.match(turn.reply, /HELLO/);

	const state = JSON.parse(readFileSync(join(agent, ".living/state.json"), "utf8"));
	assert.equal(state.status, "done");
	assert.equal(state.turn, turn.turn);
	assert.equal(state.reply, turn.reply);

	// the same session goes on, and the note is still there
	const later = mortise("run", agent, "use note_list", "--session", turn.session, "--json").json();
	assert.match(later.reply, /greeting/);

	// a tool that the repository did not ask for is not in its turns
	const other = mortise("run", agent, "use text_lower with text=HELLO", "--json").json();
	assert.deepEqual(other.tools, []);
	assert.match(other.reply, /no such tool/);
});
