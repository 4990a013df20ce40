import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { story } from "../story.mjs";

await story((mortise, home) => {
	const agent = join(home, "agent");
	cpSync(fileURLToPath(new URL("./agent", import.meta.url)), agent, { recursive: true });

	const run = mortise("run", agent, "book me a flight", "--json");
	assert.equal(run.status, 1);
	const { refused, failures } = run.json();
	assert.equal(refused, true);
	const rules = new Set(failures.map((failure) => failure.rule));
	for (const rule of [
		"protocol_version",
		"agent_capabilities",
		"isolation_profile",
		"state_publication",
		"secrets",
		"provider",
		"tools",
	]) {
		assert.ok(rules.has(rule), `${rule} is named`);
	}

	// the same four rules without starting anything, for scripts
	assert.equal(mortise("doc", "-o", join(home, "runtime.json")).status, 0);
	const match = mortise("match", join(home, "runtime.json"), join(agent, ".living/manifest.yaml"));
	assert.equal(match.status, 1);
	assert.equal(match.stdout.trim().split("\n").length, 4);
});
