// Runs in: worker.
import { type Canary, canaryLimits, spinLimits } from "./canary.js";

const answering = (text: string, before = "") =>
	`export default { async handle(envelope, host) { ${before}
		return { ok: true, output: { content: [{ type: "text", text: ${text} }] } };
	} };`;
const module = (source: string) =>
	({ profile: "wasm-js", entry: "canary.js", sources: { "canary.js": source } }) as const;

/** What the profile `wasm-js` must show before it is published. */
export const wasmJsCanaries: readonly Canary[] = [
	{
		name: "finds-nothing",
		shows: "a host function that was not granted is absent, and so is everything of Node",
		body: module(
			answering(
				`[host.kv, host.http, host.secret, globalThis.process, globalThis.require, globalThis.fetch,
					globalThis.WebAssembly, Function("return this.process")()].map((found) => typeof found).join(" ")`,
			),
		),
		limits: canaryLimits,
		expects: { text: Array(8).fill("undefined").join(" ") },
	},
	{
		name: "imports",
		shows: "a module of Node cannot be imported",
		body: module(`import "node:fs"; ${answering('"imported"')}`),
		limits: canaryLimits,
		expects: { codes: ["plugin.import_refused"] },
	},
	{
		name: "spins",
		shows: "an endless loop ends at its deadline",
		// gives up after a second, so that a host without a deadline is found out and not hung
		body: module(answering('"went on"', "const end = Date.now() + 1000; while (Date.now() < end);")),
		limits: spinLimits,
		expects: { codes: ["plugin.cpu_limit"] },
	},
	{
		name: "spins-in-a-builtin",
		shows: "a loop inside the engine's own code ends at its deadline",
		// a search that takes seconds, during which the engine asks nobody whether to go on
		body: module(answering('"went on"', 'const a = "a".repeat(60000); (a + a).indexOf(a + "b");')),
		limits: spinLimits,
		expects: { codes: ["plugin.cpu_limit"] },
	},
	{
		name: "grows",
		shows: "memory beyond the limit cannot be had",
		body: module(
			answering('"grew"', "const all = []; for (let i = 0; i < 64; i++) all.push(new Uint8Array(1048576));"),
		),
		limits: canaryLimits,
		expects: { codes: ["plugin.memory_limit"] },
	},
];
