import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../fixtures/runtime/", import.meta.url));

/** The directories of `test/fixtures/runtime` (rule C9). */
export const fixtures: readonly string[] = readdirSync(root).sort();

const all = ["protocol_version", "agent_capabilities", "isolation_profile", "state_publication"];
/** The rules a fixture fails: by the first word of its name. */
const failing: { readonly [word: string]: readonly string[] } = {
	version: ["protocol_version"],
	capability: ["agent_capabilities"],
	capabilities: ["agent_capabilities"],
	isolation: ["isolation_profile"],
	state: ["state_publication"],
	document: ["schema"],
	every: all,
	manifest: all,
	three: ["protocol_version", "isolation_profile", "state_publication"],
	match: [],
};

/** The rules that a fixture has to fail; fails itself for a name nobody has thought of. */
export function failingRules(name: string): readonly string[] {
	const rules = failing[name.split("-", 1)[0] ?? ""];
	if (rules === undefined) throw new Error(`no rules are known for the fixture ${name}`);
	return rules;
}

/** The document and the manifest of a fixture. */
export function pathsOf(name: string): { readonly runtime: string; readonly manifest: string } {
	const json = join(root, name, "runtime.json");
	const runtime = existsSync(json) ? json : join(root, name, "runtime.yaml");
	return { runtime, manifest: join(root, name, ".living/manifest.yaml") };
}
