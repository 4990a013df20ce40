import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { story } from "../story.mjs";

const hello = fileURLToPath(new URL("../hello-tool/bundle", import.meta.url));

await story((mortise, home) => {
	const before = join(home, "before.json");
	const again = join(home, "again.json");
	const after = join(home, "after.json");

	mortise("doc", "-o", before);
	mortise("doc", "-o", again);
	assert.deepEqual(readFileSync(before), readFileSync(again), "the same set gives the same bytes");

	// what a reader of the feed does: look at what is offered, and choose
	const document = JSON.parse(readFileSync(before, "utf8"));
	assert.ok(document.agent_capabilities.includes("run_tasks"));
	assert.ok(document.isolation_profiles.includes("wasm"));
	assert.ok(document["x-tools"].some((tool) => tool.name === "text_upper" && tool.bundle === "text-kit"));

	mortise("plugin", "install", hello);
	mortise("doc", "-o", after);
	const difference = mortise("doc", "diff", before, after);
	assert.equal(difference.status, 1);
	assert.match(difference.stdout, /hello/);

	// what goes away is gone from the next document
	mortise("plugin", "remove", "hello");
	mortise("doc", "-o", after);
	assert.equal(mortise("doc", "diff", before, after).status, 0);

	mortise("plugin", "disable", "offline");
	mortise("plugin", "disable", "openai-compatible");
	mortise("doc", "-o", after);
	assert.ok(!JSON.parse(readFileSync(after, "utf8")).agent_capabilities.includes("run_tasks"));
});
