// Runs in: worker.
import { type Canary, canaryLimits, spinLimits } from "./canary.js";

const i32 = 0x7f;
const i64 = 0x7e;
const named = (text: string) => [text.length, ...new TextEncoder().encode(text)];
const section = (id: number, body: readonly number[]) => [id, body.length, ...body];

/** A module with one memory of one page and one function, exported as `run`, that takes nothing and returns an i32. */
function module(options: {
	code: readonly number[];
	locals?: readonly number[];
	imports?: readonly number[];
}): Uint8Array {
	const { code, locals = [0], imports } = options;
	const body = [...locals, ...code, 0x0b];
	return Uint8Array.from([
		...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
		// types: 0 is () → i32, 1 is (i64) → i64
		...section(1, [2, 0x60, 0, 1, i32, 0x60, 1, i64, 1, i64]),
		...(imports === undefined ? [] : section(2, [1, ...imports])),
		...section(3, [1, 0]),
		...section(5, [1, 0, 1]),
		...section(7, [1, ...named("run"), 0, imports === undefined ? 0 : 1]),
		...section(10, [1, body.length, ...body]),
	]);
}

const returnZero = [0x41, 0];
const orTrap = [0x04, 0x40, 0x00, 0x0b]; // if unreachable end
const minusOne = [0x41, 0x7f];

/** What the profile `wasm` must show before it is published. */
export const wasmCanaries: readonly Canary[] = [
	{
		name: "imports",
		shows: "a module that imports a host function it was not given is refused",
		body: {
			profile: "wasm",
			export: "run",
			bytes: module({ imports: [...named("extism:host/user"), ...named("mortise_kv"), 0, 1], code: returnZero }),
		},
		limits: canaryLimits,
		expects: { codes: ["engine.import_not_asked"] },
	},
	{
		name: "spins",
		shows: "an endless loop ends at its deadline",
		body: {
			profile: "wasm",
			export: "run",
			// counts to 2,000,000,000 and gives up, so that a host without a deadline is found out and not hung
			bytes: module({
				locals: [1, 1, i32],
				code: [
					...[0x03, 0x40, 0x20, 0, 0x41, 1, 0x6a, 0x22, 0], // loop: local 0 += 1
					...[0x41, 0x80, 0xa8, 0xd6, 0xb9, 0x07, 0x47, 0x0d, 0, 0x0b], // while it is not 2e9
					...returnZero,
				],
			}),
		},
		limits: spinLimits,
		expects: { codes: ["plugin.cpu_limit", "plugin.timeout"] },
	},
	{
		name: "grows",
		shows: "memory grows up to the limit and not beyond it",
		body: {
			profile: "wasm",
			export: "run",
			// one page more must be had, then 1,000 more must not: either way else it traps
			bytes: module({
				code: [
					...[0x41, 1, 0x40, 0, ...minusOne, 0x46, ...orTrap],
					...[0x41, 0xe8, 0x07, 0x40, 0, ...minusOne, 0x47, ...orTrap],
					...returnZero,
				],
			}),
		},
		limits: { ...canaryLimits, memoryBytes: 4 * 65_536 },
		expects: { text: "" },
	},
];
