// Builds plugins/<id>/: src/plugin.ts with esbuild to plugin.js, assembly/plugin.ts with AssemblyScript to plugin.wasm.
// The same inputs give the same bytes. A plugin whose inputs did not change since its last build is left alone;
// the record of inputs lies outside the bundles, because a bundle's digest covers every file in it.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const plugins = join(root, "plugins");
const recordFile = join(root, "dist", "plugins-build.json");
const force = process.argv.includes("--force");

const record = readRecord();
for (const id of readdirSync(plugins).sort()) {
	const folder = join(plugins, id);
	if (!existsSync(join(folder, "plugin.yaml"))) continue;
	const build = builderOf(folder);
	if (build === undefined) continue;
	const inputs = digestOf([...build.inputs, fileURLToPath(import.meta.url), join(root, "package.json")]);
	const output = join(folder, build.output);
	const known = record[id];
	if (!force && known?.inputs === inputs && existsSync(output) && digestOf([output]) === known.output) continue;
	writeFileSync(output, await build.run());
	record[id] = { inputs, output: digestOf([output]) };
	writeRecord();
	console.error(`built plugins/${id}/${build.output} (${readFileSync(output).length} bytes)`);
}
function builderOf(folder) {
	if (existsSync(join(folder, "assembly", "plugin.ts")))
		return {
			output: "plugin.wasm",
			inputs: filesIn(join(folder, "assembly")),
			run: () => compileAssembly(join(folder, "assembly", "plugin.ts")),
		};
	if (existsSync(join(folder, "src", "plugin.ts")))
		return {
			output: "plugin.js",
			inputs: [
				...filesIn(join(folder, "src")),
				...filesIn(join(root, "sdk", "dist")).filter((file) => file.endsWith(".js")),
			],
			run: () => bundle(join(folder, "src", "plugin.ts")),
		};
	return undefined;
}

async function bundle(entry) {
	const { build } = await import("esbuild");
	const result = await build({
		absWorkingDir: root,
		entryPoints: [relative(root, entry)],
		bundle: true,
		write: false,
		format: "esm",
		target: "es2022",
		// neutral: a Node built-in is an unresolved import, and so an error
		platform: "neutral",
		mainFields: ["module", "main"],
		conditions: ["import"],
		charset: "utf8",
		legalComments: "inline",
		logLevel: "error",
	});
	return result.outputFiles[0].contents;
}

async function compileAssembly(entry) {
	const asc = await import("assemblyscript/asc");
	const written = new Map();
	const { error, stderr } = await asc.main(
		[
			relative(root, entry),
			"--outFile",
			"plugin.wasm",
			"-O3",
			"--shrinkLevel",
			"1",
			"--converge",
			"--noAssert",
			"--runtime",
			"stub",
			"--use",
			"abort=",
		],
		{
			readFile: (name, base) => {
				try {
					return readFileSync(join(base === "." ? root : join(root, base), name), "utf8");
				} catch {
					return null;
				}
			},
			writeFile: (name, contents) => void written.set(name, contents),
			listFiles: (folder, base) => {
				try {
					return readdirSync(join(root, base === "." ? "" : base, folder)).filter((name) => name.endsWith(".ts"));
				} catch {
					return null;
				}
			},
		},
	);
	const module = written.get("plugin.wasm");
	if (error !== null || module === undefined) throw new Error(`AssemblyScript refused ${entry}:\n${stderr.toString()}`);
	return module;
}

function filesIn(folder) {
	if (!existsSync(folder)) return [];
	return readdirSync(folder, { withFileTypes: true, recursive: true })
		.filter((entry) => entry.isFile())
		.map((entry) => join(entry.parentPath ?? entry.path, entry.name))
		.sort();
}

function digestOf(files) {
	const hash = createHash("sha256");
	for (const file of files) hash.update(relative(root, file)).update("\0").update(readFileSync(file)).update("\0");
	return hash.digest("hex");
}

function writeRecord() {
	mkdirSync(dirname(recordFile), { recursive: true });
	writeFileSync(recordFile, `${JSON.stringify(record, null, "\t")}\n`);
}

function readRecord() {
	try {
		return JSON.parse(readFileSync(recordFile, "utf8"));
	} catch {
		return {};
	}
}
