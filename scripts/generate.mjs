// Writes what is generated from the built code: `schemas/` (committed) and, in `dist/`, the digests of the first-party
// bundles (`first-party.json`) and the capability document of the embedded set (`living-repos-runtime.json`). Runs after
// `tsc -b` and the build of the plugins. `--check` writes nothing and exits 1 when a schema is stale.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Manifest } from "@mortise/sdk/contract";
import { z } from "zod";
import { AgentManifest, Config, RuntimeDocument } from "../dist/contract/index.js";

const root = new URL("../", import.meta.url);

const schemas = {
	"runtime.schema.json": [RuntimeDocument, "Runtime capability document"],
	"plugin.schema.json": [Manifest, "Plugin manifest, plugin.yaml"],
	"agent-manifest.schema.json": [AgentManifest, "Agent manifest, .living/manifest.yaml"],
	"config.schema.json": [Config, "Operator's configuration, mortise.yaml"],
};

const stale = await staleSchemas();
if (process.argv.includes("--check")) {
	for (const [name] of stale) console.error(`schemas/${name} is stale: run npm run build`);
	process.exit(stale.length === 0 ? 0 : 1);
}
for (const [name, text] of stale) await write(`schemas/${name}`, text);
await writeEmbedded();

async function staleSchemas() {
	const found = [];
	for (const [name, [schema, title]] of Object.entries(schemas)) {
		const { $schema, ...rest } = z.toJSONSchema(schema, { target: "draft-2020-12", io: "input" });
		const text = `${JSON.stringify({ $schema, ...rest, title }, null, 2)}\n`;
		const present = await readFile(new URL(`schemas/${name}`, root), "utf8").catch(() => undefined);
		if (present !== text) found.push([name, text]);
	}
	return found;
}

async function writeEmbedded() {
	const bundles = await firstPartyBundles();
	if (bundles === undefined) {
		console.error("no first-party plugin is built: no embedded document is made");
		return;
	}
	const digests = Object.fromEntries(bundles.map((bundle) => [bundle.manifest.id, bundle.digest]));
	await write("dist/first-party.json", `${JSON.stringify(digests, null, 2)}\n`);
	const { documentBytes, embeddedDocument } = await import("../dist/capability/index.js");
	const { embeddedConfig } = await import("../dist/embedded-config.js");
	const { nativeStateTargets } = await import("../dist/state/index.js");
	const document = embeddedDocument({
		name: embeddedConfig.runtime.name,
		protocolVersions: embeddedConfig.runtime.protocol_versions,
		bundles,
		nativeMemory: ["sqlite"],
		nativeStateTargets,
		...(await assembled(bundles)),
	});
	await write("dist/living-repos-runtime.json", documentBytes(document, "json"));
}

/** The built first-party bundles, verified, by id; `undefined` when none is built. Ends the build when one is refused. */
async function firstPartyBundles() {
	const { readBundle } = await import("../dist/bundle/index.js");
	const { compileSchema } = await import("../dist/json-schema.js");
	const folder = fileURLToPath(new URL("plugins/", root));
	const ids = existsSync(folder) ? (await readdir(folder)).sort() : [];
	const present = ids.filter((id) => existsSync(`${folder}${id}/plugin.yaml`));
	const built = present.filter((id) =>
		["plugin.js", "plugin.wasm"].some((name) => existsSync(`${folder}${id}/${name}`)),
	);
	if (built.length === 0) return undefined;
	const bundles = [];
	for (const id of present) {
		const read = await readBundle(`${folder}${id}`, { origin: "first-party", compile: compileSchema });
		if (read.ok) bundles.push(read.bundle);
		else for (const each of read.refused.problems) console.error(`${each.file}:${each.line}: ${each.message}`);
	}
	if (bundles.length !== present.length) process.exit(1);
	return bundles;
}

/** The names as the runtime gives them out: native tools first, then the bundles'. */
async function assembled(bundles) {
	const { createFileTools, createMemoryTools } = await import("../dist/tools/index.js");
	const { registryOf } = await import("../dist/runtime/registry.js");
	// only described here, never executed, so neither a store nor a workspace is behind them
	const native = [...createMemoryTools({}), ...createFileTools("/")].map((each) => each.tool);
	return registryOf({ plugins: bundles.map((bundle) => ({ bundle })) }, native);
}

async function write(name, content) {
	const file = new URL(name, root);
	const present = await readFile(file).catch(() => undefined);
	if (present?.equals(Buffer.from(content))) return;
	await mkdir(new URL(".", file), { recursive: true });
	await writeFile(file, content);
	console.error(`wrote ${name}`);
}
