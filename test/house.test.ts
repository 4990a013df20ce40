import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The rooms of `src/`, lowest first (docs/architecture). A room imports from lower levels and from itself. */
const levels: readonly (readonly string[])[] = [
	["contract"],
	[
		"errors",
		"log",
		"config",
		"embedded-config",
		"yaml",
		"database",
		"json-schema",
		"make-folder",
		"schema-check",
		"heard-by-many",
		"read-end",
		"read-start",
		"held-folder",
		"thread-entry",
	],
	["bundle"],
	["isolation", "broker"],
	["engine"],
	["tools", "policy", "capability", "state"],
	["agent"],
	["pool"],
	["runtime"],
	["rpc", "serve"],
	["cli"],
];
/** The lowest files share one level and may use each other; `errors` is what all of them use. */
const base = new Set(levels[1]);

/** Packages and modules that only some rooms may import. */
const importers: { readonly [name: string]: readonly string[] } = {
	"@extism/extism": ["engine"],
	"quickjs-emscripten-core": ["engine"],
	"@jitl/quickjs-wasmfile-release-sync": ["engine"],
	tinypool: ["pool"],
	"node:worker_threads": ["pool", "engine"],
	yaml: ["yaml"],
	pino: ["log"],
	"better-sqlite3": ["database"],
	undici: ["broker"],
	"ipaddr.js": ["broker"],
	tar: ["bundle"],
	ajv: ["json-schema"],
	"ajv-formats": ["json-schema"],
	"node:child_process": ["isolation", "tools"],
	commander: ["cli"],
};

type Source = {
	readonly path: string;
	readonly room: string;
	readonly text: string;
	readonly imports: readonly string[];
};

function filesBelow(folder: string, skip: readonly string[] = []): string[] {
	if (!existsSync(join(root, folder))) return [];
	return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile() && /\.(ts|mts|js|mjs)$/.test(entry.name) && !entry.name.endsWith(".d.ts"))
		.map((entry) => relative(root, join(entry.parentPath, entry.name)))
		.filter((path) => !skip.some((part) => path.split("/").includes(part)))
		.sort();
}

function read(path: string): Source {
	const text = readFileSync(join(root, path), "utf8");
	const found = ts.preProcessFile(text, true, true);
	const imports = [...found.importedFiles, ...found.typeReferenceDirectives].map((each) => each.fileName);
	return { path, room: roomOf(path), text, imports };
}

/** `src/engine/open.ts` → `engine`; `src/yaml.ts` and `src/json-schema/x.ts` → `yaml`, `json-schema`. */
function roomOf(path: string): string {
	return (path.split("/")[1] ?? "").replace(/\.ts$/, "");
}

function packageOf(specifier: string): string {
	const parts = specifier.split("/");
	return specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? "");
}

/** The name an import goes by in the tables: `node:` for Node's own, the package for others, `undefined` for own files. */
function nameOf(specifier: string): string | undefined {
	if (specifier.startsWith(".")) return undefined;
	if (/^(child_process|worker_threads|fs|path|os|net|http|https|vm|crypto)(\/|$)/.test(specifier))
		return `node:${specifier}`;
	return specifier.startsWith("node:") ? specifier : packageOf(specifier);
}

function levelOf(room: string): number {
	return levels.findIndex((level) => level.includes(room));
}

const sources = filesBelow("src").map(read);
const sdk = filesBelow("sdk/src").map(read);
// what runs in a plugin; generators beside it are tools of the build
const plugins = filesBelow("plugins", ["node_modules"])
	.filter((path) => path.split("/")[2] === "src")
	.map(read);

/** Places where a file uses a name: `process.env` as a member, `console` as a value. Comments and texts do not count. */
function uses(source: Source, what: "console" | "process.env"): number[] {
	const file = ts.createSourceFile(source.path, source.text, ts.ScriptTarget.Latest, true);
	const lines: number[] = [];
	const visit = (node: ts.Node): void => {
		if (isUse(node, what)) lines.push(file.getLineAndCharacterOfPosition(node.getStart()).line + 1);
		ts.forEachChild(node, visit);
	};
	visit(file);
	return lines;
}

function isUse(node: ts.Node, what: "console" | "process.env"): boolean {
	if (what === "console") {
		const inMember =
			ts.isPropertyAccessExpression(node.parent ?? node) && (node.parent as { name?: ts.Node }).name === node;
		return ts.isIdentifier(node) && node.text === "console" && !inMember;
	}
	if (ts.isPropertyAccessExpression(node)) return node.name.text === "env" && node.expression.getText() === "process";
	if (ts.isElementAccessExpression(node)) {
		return node.expression.getText() === "process" && /^["'`]env["'`]$/.test(node.argumentExpression.getText());
	}
	if (ts.isVariableDeclaration(node)) {
		return node.initializer?.getText() === "process" && /\benv\b/.test(node.name.getText());
	}
	return ts.isImportSpecifier(node) && (node.propertyName ?? node.name).getText() === "env";
}

const at = (source: Source, lines: readonly number[]) => lines.map((line) => `${source.path}:${line}`);

describe("the house", () => {
	it("has no room that is not on the plan", () => {
		expect([...new Set(sources.map((each) => each.room))].filter((room) => levelOf(room) < 0)).toEqual([]);
	});

	it("has dependencies that point downwards, and no siblings that import each other", () => {
		const wrong = sources.flatMap((source) =>
			source.imports
				.filter((specifier) => specifier.startsWith("."))
				.map((specifier) => relative(root, resolve(root, dirname(source.path), specifier)))
				.filter((target) => {
					if (!target.startsWith("src/")) return true;
					const room = roomOf(target.replace(/\.js$/, ".ts"));
					if (room === source.room || (base.has(room) && base.has(source.room))) return false;
					return levelOf(room) >= levelOf(source.room);
				})
				.map((target) => `${source.path} → ${target}`),
		);
		expect(wrong).toEqual([]);
	});

	it("has a contract that imports nothing of ours but the sdk", () => {
		const contract = sources.filter((each) => each.room === "contract");
		expect(contract.length).toBeGreaterThan(0);
		const outside = contract.flatMap((source) =>
			source.imports.filter((each) => !each.startsWith("./") && !["zod", "@mortise/sdk"].includes(packageOf(each))),
		);
		expect(outside).toEqual([]);
	});

	it.each(Object.entries(importers))("lets %s be imported by %j only", (name, rooms) => {
		const wrong = sources
			.filter((source) => source.imports.some((each) => nameOf(each) === name) && !rooms.includes(source.room))
			.map((source) => source.path);
		expect(wrong).toEqual([]);
	});

	it("declares every package it imports, and imports only declared ones", () => {
		const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
			dependencies: Record<string, string>;
		};
		const used = new Set(sources.flatMap((each) => each.imports.map(nameOf)).filter((each) => each !== undefined));
		expect([...used].filter((each) => !each.startsWith("node:") && !(each in dependencies))).toEqual([]);
	});

	it("keeps console in cli/", () => {
		const wrong = sources.filter((each) => each.room !== "cli").flatMap((each) => at(each, uses(each, "console")));
		expect(wrong).toEqual([]);
	});

	it("reads the environment in config.ts only", () => {
		const wrong = sources
			.filter((each) => each.room !== "config")
			.flatMap((each) => at(each, uses(each, "process.env")));
		expect(wrong).toEqual([]);
	});

	it("has no file over 400 lines", () => {
		const tests = filesBelow("test", ["fixtures"]).map(read);
		// the one table of errors is data, a few lines an entry
		const table = "src/errors.ts";
		const long = [...sources, ...sdk, ...plugins, ...tests].filter(
			(each) => each.path !== table && each.text.split("\n").length > 401,
		);
		expect(long.map((each) => each.path)).toEqual([]);
	});

	it("has index files that only list names", () => {
		const wrong = [...sources, ...sdk]
			.filter((each) => /(^|\/)index\.ts$/.test(each.path))
			.filter((each) => {
				const { statements } = ts.createSourceFile(each.path, each.text, ts.ScriptTarget.Latest);
				return !statements.every(
					(statement) => ts.isExportDeclaration(statement) && statement.exportClause !== undefined,
				);
			});
		expect(wrong.map((each) => each.path)).toEqual([]);
	});

	it("has an sdk that depends on zod alone", () => {
		const outside = sdk.flatMap((source) =>
			source.imports
				.filter((each) => !each.startsWith(".") && packageOf(each) !== "zod")
				.map((each) => `${source.path} → ${each}`),
		);
		expect(outside).toEqual([]);
		const { dependencies } = JSON.parse(readFileSync(join(root, "sdk/package.json"), "utf8")) as {
			dependencies: object;
		};
		expect(Object.keys(dependencies)).toEqual(["zod"]);
	});

	it("has plugins that import the sdk only", () => {
		const outside = plugins.flatMap((source) => {
			const home = source.path.split("/").slice(0, 2).join("/");
			return source.imports
				.filter((each) => {
					if (!each.startsWith(".")) return packageOf(each) !== "@mortise/sdk";
					return !relative(root, resolve(root, dirname(source.path), each)).startsWith(`${home}/`);
				})
				.map((each) => `${source.path} → ${each}`);
		});
		expect(outside).toEqual([]);
	});
});

describe("the scanner of this test", () => {
	const sample = (text: string): Source => ({ path: "src/x/y.ts", room: "x", text, imports: [] });

	it("sees each way to reach the environment, and none in comments and texts", () => {
		for (const text of [
			"const a = process.env.HOME;",
			'const a = process["env"];',
			"const { env } = process;",
			'import { env } from "node:process";',
			'import { env as e } from "node:process";',
		]) {
			expect(uses(sample(text), "process.env"), text).toEqual([1]);
		}
		expect(
			uses(sample('// process.env\nconst a = "process.env"; const env = 1; const b = { env };'), "process.env"),
		).toEqual([]);
	});

	it("sees console as a value, not as a member of something else", () => {
		expect(uses(sample("console.log(1);\nconst c = console;"), "console")).toEqual([1, 2]);
		expect(uses(sample('// console\nconst a = { log: "console" }; a.console;'), "console")).toEqual([]);
	});

	it("sees imports of every form", () => {
		const text =
			'import a from "a";\nimport type { B } from "b";\nexport { c } from "c";\nconst d = import("d");\nimport "e";';
		expect(
			ts
				.preProcessFile(text, true, true)
				.importedFiles.map((each) => each.fileName)
				.sort(),
		).toEqual([..."abcde"]);
	});
});
