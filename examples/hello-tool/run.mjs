import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { story } from "../story.mjs";

const bundle = fileURLToPath(new URL("./bundle", import.meta.url));

await story((mortise) => {
	assert.equal(mortise("plugin", "install", bundle).status, 0);
	const hello = mortise("plugin", "list", "--json")
		.json()
		.find((each) => each.id === "hello");
	assert.equal(hello.state, "loaded");

	// a tool that no policy speaks of is asked about; nobody is here to ask, so it is denied
	const denied = mortise("call", "hello", '{"name":"Ada"}', "--json");
	assert.equal(denied.status, 1);

	const answered = mortise("call", "hello", '{"name":"Ada"}', "--yes", "--json").json();
	assert.equal(answered.ok, true);
	assert.equal(answered.content[0].text, "Hello, Ada!");

	// arguments are checked before the plugin sees them
	assert.equal(mortise("call", "hello", '{"name":""}', "--yes", "--json").status, 1);
});
