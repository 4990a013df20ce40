import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll } from "vitest";
import { loadConfig } from "../../src/config.js";
import type { Config } from "../../src/contract/index.js";
import { createLineLogger } from "../../src/log.js";
import { openRuntime, type Runtime, type TurnResult } from "../../src/runtime/index.js";
import { type Files, writeFiles } from "../fixtures/bundle/corpus.js";

export { aBundle, aManifest, aWasmBundle, type Files, writeFiles } from "../fixtures/bundle/corpus.js";

/** The checkout. */
export const root = fileURLToPath(new URL("../../", import.meta.url));
/** The built command line. */
export const cli = join(root, "dist/cli/main.js");

const closers: (() => Promise<unknown>)[] = [];
afterAll(async () => {
	for (const close of closers.splice(0).reverse()) await close();
});

/** Closed after the tests of this file, last made first. */
export function closeLater(close: () => Promise<unknown>): void {
	closers.push(close);
}

/** An empty folder that is gone after the tests of this file. */
export async function aFolder(): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), "mortise-journey-"));
	closeLater(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
	return folder;
}

let warm: Promise<string> | undefined;

/** A home folder that knows already what its machine enforces, with bundles dropped in: name → files. */
export async function aHome(dropped: { readonly [name: string]: Files } = {}): Promise<string> {
	warm ??= warmCache();
	const home = await aFolder();
	await cp(await warm, join(home, "cache"), { recursive: true });
	for (const [name, files] of Object.entries(dropped)) await writeFiles(join(home, "bundles", name), files);
	return home;
}

async function warmCache(): Promise<string> {
	const home = await aFolder();
	await (await open({ home, config: {} })).runtime.close();
	return join(home, "cache");
}

export type Opened = { readonly runtime: Runtime; readonly home: string; readonly logged: readonly string[] };

/** A runtime in this process on a home of its own. Its threads run the built code. */
export async function aRuntime(
	options: {
		readonly config?: Config;
		readonly home?: string;
		readonly bundles?: { readonly [name: string]: Files };
		readonly environment?: { readonly [name: string]: string };
	} = {},
): Promise<Opened> {
	const home = options.home ?? (await aHome(options.bundles));
	const opened = await open({ home, config: options.config ?? {}, environment: options.environment ?? {} });
	let closed = false;
	const close = opened.runtime.close.bind(opened.runtime);
	opened.runtime.close = async () => {
		if (closed) return;
		closed = true;
		await close();
	};
	closeLater(opened.runtime.close);
	return opened;
}

async function open(options: {
	readonly home: string;
	readonly config: Config;
	readonly environment?: { readonly [name: string]: string };
}): Promise<Opened> {
	const { home, config } = options;
	// through the file, as an operator gives it
	const file = join(home, "mortise.yaml");
	await writeFile(file, JSON.stringify(config));
	const environment = { variables: options.environment ?? {}, logLevel: "debug", homeFolder: undefined };
	const logged: string[] = [];
	const runtime = await openRuntime({
		loaded: await loadConfig({ file, home }, environment),
		environment,
		log: createLineLogger((line) => void logged.push(line)),
	});
	return { runtime, home, logged };
}

/** What one run of the command line came to. */
export type Ran = {
	readonly status: number | null;
	/** What ended it when it did not end by itself. */
	readonly signal: NodeJS.Signals | null;
	readonly stdout: string;
	readonly stderr: string;
	/** The one JSON value on stdout; fails when there is anything else. */
	// biome-ignore lint/suspicious/noExplicitAny: each test names the members it looks at
	readonly json: () => any;
};
export type RunOptions = {
	readonly home: string;
	readonly cwd?: string;
	readonly input?: string;
	/** Has the process in its hands instead of `input`: writes and ends its standard input, and sends signals. */
	readonly drive?: (child: ChildProcessWithoutNullStreams) => void;
	readonly environment?: { readonly [name: string]: string };
};

/** Runs the built command line as a person would, in a process of its own. */
export function mortise(args: readonly string[], options: RunOptions): Promise<Ran> {
	const { home, cwd = home, input = "", drive, environment = {} } = options;
	return new Promise((resolve, reject) => {
		const child = spawn(process.execPath, [cli, ...args, "--home", home], {
			cwd,
			env: { PATH: process.env.PATH, ...environment },
			stdio: ["pipe", "pipe", "pipe"],
		});
		const out: Buffer[] = [];
		const err: Buffer[] = [];
		child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
		child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
		child.stdin.on("error", () => undefined);
		if (drive === undefined) child.stdin.end(input);
		else drive(child);
		child.on("error", reject);
		child.on("close", (status, signal) => {
			const stdout = Buffer.concat(out).toString();
			const stderr = Buffer.concat(err).toString();
			resolve({
				status,
				signal,
				stdout,
				stderr,
				json: () => {
					try {
						return JSON.parse(stdout);
					} catch (cause) {
						throw new Error(`stdout is not one JSON value: ${stdout}\n${stderr}`, { cause });
					}
				},
			});
		});
	});
}

export type ToolText = { readonly name: string; readonly input?: unknown; readonly effects?: readonly string[] };

/** The files of an ES-module bundle written by hand. `code` is the body of `handle({ op, input, ctx }, host)`. */
export function anEsmBundle(
	id: string,
	bundle: { readonly code: string; readonly tools?: readonly ToolText[]; readonly more?: object },
): Files {
	return {
		"plugin.yaml": manifestOf(id, { runtime: "esm", entry: "plugin.js", ...toolsOf(id, bundle.tools), ...bundle.more }),
		"plugin.js": `export default { async handle({ op, input, ctx }, host) {\n${bundle.code}\n} };\n`,
	};
}

/** The files of a WebAssembly bundle. */
export function aWasm(
	id: string,
	bundle: { readonly module: Uint8Array; readonly tools?: readonly object[]; readonly more?: object },
): Files {
	return {
		"plugin.yaml": manifestOf(id, {
			runtime: "wasm",
			entry: "plugin.wasm",
			...toolsOf(id, bundle.tools),
			...bundle.more,
		}),
		"plugin.wasm": bundle.module,
	};
}

function manifestOf(id: string, rest: object): string {
	return JSON.stringify({ contract: 1, id, version: "1.0.0", description: "Made by a test", ...rest });
}

function toolsOf(id: string, tools: readonly object[] = [{ name: id.replaceAll(/[.-]/g, "_") }]): object {
	return { provides: { tools: tools.map((tool) => ({ description: "A tool", input: { type: "object" }, ...tool })) } };
}

/** Says what a tool answers with: code for `handle`. */
export const answerText = (expression: string): string =>
	`return { ok: true, output: { content: [{ type: "text", text: String(${expression}) }] } };`;

/** A server on loopback, with what it was asked. */
export async function aServer(
	answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly url: string; readonly port: number; readonly requests: readonly IncomingMessage[] }> {
	const requests: IncomingMessage[] = [];
	const server = createServer((request, response) => {
		requests.push(request);
		answer(request, response);
	});
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	closeLater(
		() =>
			new Promise((resolve) => {
				server.closeAllConnections();
				server.close(resolve);
			}),
	);
	const { port } = server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}`, port, requests };
}

/** The turn's result when it ran to a reply; fails with what it was otherwise. */
export function done(result: TurnResult): Extract<TurnResult, { kind: "done" }> {
	if (result.kind === "done") return result;
	throw new Error(`the turn is not done: ${JSON.stringify(result)}`);
}
