import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundBulk } from "../../src/engine/wasm/bound-bulk.js";
import { findLongInstructions, UnknownInstruction } from "../../src/engine/wasm/instructions.js";
import { encodeNumber, MalformedModule, readModule } from "../../src/engine/wasm/module-reader.js";
import { prepareModule } from "../../src/engine/wasm/prepare.js";
import { openWasm } from "../../src/engine/wasm/wasm.js";
import { aHost, buildText } from "../hostile/wasm/build.js";
import { bundleFile } from "../plugins/open.js";

const page = 65_536;

/** A module whose exports are the instructions, over four pages and a table. */
const instructions = buildText(`(module
	(memory (export "memory") 4 6)
	(table (export "table") 8 funcref)
	(data $piece "0123456789")
	(elem $refs func $fill $copy)
	(func $fill (export "fill") (param i32 i32 i32) (memory.fill (local.get 0) (local.get 1) (local.get 2)))
	(func $copy (export "copy") (param i32 i32 i32) (memory.copy (local.get 0) (local.get 1) (local.get 2)))
	(func (export "init") (param i32 i32 i32) (memory.init $piece (local.get 0) (local.get 1) (local.get 2)))
	(func (export "drop") (data.drop $piece))
	(func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
	(func (export "table_init") (param i32 i32 i32) (table.init $refs (local.get 0) (local.get 1) (local.get 2)))
	(func (export "table_fill") (param i32 i32)
		(table.fill 0 (local.get 0) (ref.func $fill) (local.get 1)))
	(func (export "table_copy") (param i32 i32 i32) (table.copy (local.get 0) (local.get 1) (local.get 2)))
	(func (export "table_grow") (param i32) (result i32) (table.grow 0 (ref.null func) (local.get 0))))`);

type Exports = Record<string, (...args: number[]) => number | undefined> & {
	memory: WebAssembly.Memory;
	table: WebAssembly.Table;
};
const instantiate = (module: WebAssembly.Module) => new WebAssembly.Instance(module).exports as unknown as Exports;

async function bounded(bytes: Uint8Array, memoryBytes = 6 * page): Promise<WebAssembly.Module> {
	const prepared = await prepareModule(bytes, { memoryBytes });
	if (!prepared.ok) throw new Error(`${prepared.error.code}: ${prepared.error.message}`);
	return prepared.module;
}

/** What a call gives, or the kind of its trap. */
function outcome(run: () => unknown): unknown {
	try {
		return run();
	} catch (error) {
		return error instanceof WebAssembly.RuntimeError ? error.message : String(error);
	}
}

/** Numbers of 32 bits, most of them near the edges of chunks, pages and the memory. */
const place = fc.oneof(
	fc.integer({ min: 0, max: 4 * page }),
	fc.tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: -2, max: 2 })).map(([pages, off]) => pages * page + off),
	fc.constantFrom(0, 1, -1, -2, 0x7fffffff, -0x80000000, -page),
);

describe("bounded bulk instructions", () => {
	it("do what the instructions do: every byte, every trap, nothing written before one", async () => {
		const plain = await WebAssembly.compile(instructions as BufferSource);
		const ours = await bounded(instructions);
		const step = fc.oneof(
			fc.tuple(fc.constantFrom("fill", "copy"), place, place, place),
			fc.tuple(fc.constantFrom("init", "table_init", "table_copy"), fc.nat(12), fc.nat(12), fc.nat(12)),
			fc.tuple(fc.constant("table_fill"), fc.nat(12), fc.nat(12), fc.constant(0)),
			fc.tuple(fc.constantFrom("grow", "table_grow"), fc.nat(2), fc.constant(0), fc.constant(0)),
			fc.tuple(fc.constant("drop"), fc.constant(0), fc.constant(0), fc.constant(0)),
		);
		fc.assert(
			fc.property(fc.array(step, { minLength: 1, maxLength: 8 }), fc.integer(), (steps, seed) => {
				const [left, right] = [instantiate(plain), instantiate(ours)];
				for (const { memory } of [left, right]) {
					let state = seed | 1;
					const words = new Uint32Array(memory.buffer);
					for (let index = 0; index < words.length; index += 1) {
						state = Math.imul(state, 1_664_525) + 1_013_904_223;
						words[index] = state;
					}
				}
				for (const [name, ...args] of steps) {
					expect(outcome(() => right[name]?.(...args))).toEqual(outcome(() => left[name]?.(...args)));
					expect(Buffer.compare(Buffer.from(right.memory.buffer), Buffer.from(left.memory.buffer))).toBe(0);
					expect(right.table.length).toBe(left.table.length);
				}
			}),
			{ numRuns: 300 },
		);
	});

	const memory = '(memory 512) (table 100000 funcref) (data $d "0123456789") (elem $e func $f) (func $f)';
	it.each([
		["memory.fill in a row", "(memory.fill (i32.const 0) (i32.const 1) (i32.const 33554432))", 20_000],
		["memory.copy in a row", "(memory.copy (i32.const 1) (i32.const 0) (i32.const 33554431))", 20_000],
		["table.fill in a row", "(table.fill 0 (i32.const 0) (ref.null func) (i32.const 100000))", 20_000],
		["table.copy in a row", "(table.copy (i32.const 1) (i32.const 0) (i32.const 99999))", 20_000],
		["memory.grow in a row", "(drop (memory.grow (i32.const 0)))", 300_000],
	])(
		"end at the cpu budget, with the thread: %s",
		async (_name, instruction, times) => {
			const bytes = buildText(
				`(module ${memory} (func (export "mortise_call") (result i32) ${`${instruction}\n`.repeat(times)} (i32.const 0)))`,
			);
			const code = {
				id: "hostile.bulk",
				version: "1.0.0",
				digest: "sha256:00",
				exports: {},
				config: {},
				body: { profile: "wasm" as const, module: await bounded(bytes, 512 * page), wasi: false },
				hostFunctions: [],
				ungranted: {},
				limits: { memoryBytes: 512 * page, cpuMs: 100, timeoutMs: 60_000, outputBytes: 1000 },
			};
			const ended = await openWasm(code, aHost()).call({ op: "tool.call", input: {}, call: "c", timeoutMs: 60_000 });
			expect(ended).toMatchObject({ ok: false, error: { code: "plugin.cpu_limit" } });
			// the work itself takes many times as long
		},
		10_000,
	);
});

/** The sections of a module that `boundBulk` takes, and how many functions it imports. */
function sectionsOf(bytes: Uint8Array) {
	const reader = readModule(bytes, "the module");
	reader.bytes(8);
	const bodies = new Map<number, Uint8Array>();
	while (reader.left() > 0) {
		const id = reader.byte();
		bodies.set(id, reader.bytes(reader.number()));
	}
	const body = (id: number) => bodies.get(id) ?? Uint8Array.of(0);
	return { sections: { types: body(1), functions: body(3), code: body(10) }, bodies };
}

function joined(bytes: Uint8Array, sections: ReturnType<typeof boundBulk>): Uint8Array<ArrayBuffer> {
	const reader = readModule(bytes, "the module");
	const pieces: Uint8Array[] = [reader.bytes(8)];
	while (reader.left() > 0) {
		const id = reader.byte();
		const given = reader.bytes(reader.number());
		const body = id === 1 ? sections.types : id === 3 ? sections.functions : id === 10 ? sections.code : given;
		pieces.push(Uint8Array.of(id, ...encodeNumber(body.length)), body);
	}
	return Buffer.concat(pieces);
}

describe("boundBulk", () => {
	const quickJs = join(
		dirname(createRequire(import.meta.url).resolve("@jitl/quickjs-wasmfile-release-sync/package.json")),
		"dist/emscripten-module.wasm",
	);
	it.each([
		["an interpreter of half a megabyte", readFileSync(quickJs)],
		["a bundle from AssemblyScript", bundleFile("text-kit", "plugin.wasm")],
	])("leaves %s valid", async (_name, bytes) => {
		const imported = WebAssembly.Module.imports(await WebAssembly.compile(bytes as BufferSource));
		const functions = imported.filter(({ kind }) => kind === "function").length;
		const { sections } = sectionsOf(bytes);
		expect(WebAssembly.validate(joined(bytes, boundBulk(sections, functions)))).toBe(true);
	});

	it("changes nothing where nothing is long", () => {
		const { sections } = sectionsOf(buildText('(module (func (export "f") (result i32) (i32.const 64)))'));
		expect(boundBulk(sections, 0)).toBe(sections);
	});
});

describe("findLongInstructions", () => {
	it("finds each with its place, past every kind of operand", () => {
		const bytes = buildText(`(module (memory 1) (func (param i32 i64 f32 f64 v128)
			(block (result i32) (i32.const -1)) (br_if 0)
			(loop (br_table 0 0 1 (i32.const 64)))
			(drop (i64.const 0x7c0bfc0b)) (drop (f32.const 1)) (drop (f64.const 1))
			(drop (v128.const i32x4 0x000bfc00 0 0 0xfc0b00fc))
			(drop (i8x16.shuffle 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 (local.get 4) (local.get 4)))
			(drop (v128.load8_lane offset=4 3 (i32.const 0) (local.get 4)))
			(drop (i32.trunc_sat_f32_s (f32.const 1)))
			(memory.fill (i32.const 0) (i32.const 0) (i32.const 0))
			(drop (memory.grow (i32.const 0)))))`);
		const { sections } = sectionsOf(bytes);
		const reader = readModule(sections.code, "code");
		reader.number();
		const body = reader.bytes(reader.number());
		const found = findLongInstructions(body, 1);
		expect(found.map(({ kind }) => kind)).toEqual(["memory.fill", "memory.grow"]);
		expect([...body.subarray(found[0]?.from, found[0]?.to)]).toEqual([0xfc, 11, 0]);
		expect([...body.subarray(found[1]?.from, found[1]?.to)]).toEqual([0x40, 0]);
	});

	it.each([
		["an instruction of the garbage collector", [0xfb, 0x00]],
		["a block whose type is of two bytes", [0x02, 0x64, 0xfd, 0x0b]],
		["a select whose type is of two bytes", [0x1c, 0x01, 0x63, 0xfd]],
		["an instruction that does not exist", [0xc7]],
		["a bulk instruction that does not exist", [0xfc, 0x20]],
		["an atomic instruction that does not exist", [0xfe, 0x7f]],
		["a vector instruction that does not exist", [0xfd, 0xff, 0x7f]],
	])("refuses %s: what follows it could be anything", (_name, code) => {
		expect(() => findLongInstructions(Uint8Array.from(code), 0)).toThrow(UnknownInstruction);
	});

	it("reads any bytes to an end, and names what it cannot read", () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 60 }), (code) => {
				try {
					for (const { from, to } of findLongInstructions(code, 0)) expect(to).toBeGreaterThan(from);
				} catch (error) {
					expect(error instanceof MalformedModule || error instanceof UnknownInstruction).toBe(true);
				}
			}),
			{ numRuns: 2000 },
		);
	});
});
