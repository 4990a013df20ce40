// Writes what is generated from the built code: `schemas/` (committed) and, in `dist/`, the digests of the first-party
// bundles and the capability document of the embedded set. Run after `tsc -b`; `--check` writes nothing and exits 1
// when a schema is stale.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { Manifest } from "@mortise/sdk/contract";
import { z } from "zod";
import { AgentManifest, Config, RuntimeDocument } from "../dist/contract/index.js";

const root = new URL("../", import.meta.url);
const check = process.argv.includes("--check");

const schemas = {
	"runtime.schema.json": [RuntimeDocument, "Runtime capability document"],
	"plugin.schema.json": [Manifest, "Plugin manifest, plugin.yaml"],
	"agent-manifest.schema.json": [AgentManifest, "Agent manifest, .living/manifest.yaml"],
	"config.schema.json": [Config, "Operator's configuration, mortise.yaml"],
};

const stale = [];
for (const [name, [schema, title]] of Object.entries(schemas)) {
	const { $schema, ...rest } = z.toJSONSchema(schema, { target: "draft-2020-12", io: "input" });
	const text = `${JSON.stringify({ $schema, ...rest, title }, null, 2)}\n`;
	const file = new URL(`schemas/${name}`, root);
	const present = await readFile(file, "utf8").catch(() => undefined);
	if (present === text) continue;
	stale.push(name);
	if (check) continue;
	await mkdir(new URL("schemas/", root), { recursive: true });
	await writeFile(file, text);
}

if (check) {
	for (const name of stale) console.error(`schemas/${name} is stale: run npm run build`);
	process.exit(stale.length === 0 ? 0 : 1);
}
for (const name of stale) console.error(`schemas/${name} written`);
