import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { prepareModule } from "../../src/engine/wasm/prepare.js";
import { buildHostile, buildText } from "../hostile/wasm/build.js";

const memoryBytes = 1_048_576;
const prepare = (bytes: Uint8Array, more: Partial<Parameters<typeof prepareModule>[1]> = {}) =>
	prepareModule(bytes, { memoryBytes, ...more });
const codeOf = async (bytes: Uint8Array, more: Partial<Parameters<typeof prepareModule>[1]> = {}) => {
	const prepared = await prepare(bytes, more);
	return prepared.ok ? "ok" : prepared.error.code;
};

describe("prepareModule", () => {
	it("says what a module imports and exports in the author's own names", async () => {
		const prepared = await prepare(buildHostile("spins-in-initialize"));
		if (!prepared.ok) throw new Error(prepared.error.message);
		expect(prepared.exports).toEqual(["_initialize", "mortise_call"]);
		expect(prepared.imports).toContainEqual({ module: "extism:host/env", name: "alloc" });
		expect(prepared.wasi).toBe(false);
	});

	it("leaves nothing in a module that runs or links by itself", async () => {
		const start = await prepare(buildHostile("spins-in-start"));
		const wasi = await prepare(buildHostile("proc-exit"));
		const http = await prepare(buildHostile("requests"));
		if (!start.ok || !wasi.ok || !http.ok) throw new Error("not prepared");
		const names = WebAssembly.Module.exports(start.module).map((exported) => exported.name);
		expect(names).toContain("mortise:start");
		expect(WebAssembly.Module.exports(wasi.module).map(({ name }) => name)).not.toContain("_start");
		expect(wasi.wasi).toBe(true);
		expect(WebAssembly.Module.imports(wasi.module)).toContainEqual({
			module: "mortise:wasi",
			name: "proc_exit",
			kind: "function",
		});
		expect(WebAssembly.Module.imports(http.module)).toContainEqual({
			module: "mortise:http",
			name: "http_request",
			kind: "function",
		});
	});

	it("gives the start function an export where a module has none", async () => {
		const prepared = await prepare(buildHostile("spins-in-start-alone"));
		if (!prepared.ok) throw new Error(prepared.error.message);
		expect(WebAssembly.Module.exports(prepared.module).map(({ name }) => name)).toEqual(["mortise:start"]);
	});

	it.each([
		["shared-memory", "engine.memory_shared"],
		["memory64", "engine.memory_64bit"],
		["imports-memory", "engine.memory_imported"],
		["huge-memory", "engine.memory_too_large"],
		["huge-table", "engine.table_too_large"],
		["many-tables", "engine.table_too_large"],
		["imports-global", "engine.import_kind"],
		["unknown-import", "engine.import_unknown"],
		["unknown-environment-import", "engine.import_unknown"],
		["own-names-import", "engine.import_unknown"],
		["ungranted-import", "engine.import_not_asked"],
		["exports-taken-name", "engine.module_invalid"],
	])("refuses %s as %s, whose owner is the author", async (name, code) => {
		const prepared = await prepare(buildHostile(name));
		expect(prepared).toMatchObject({ ok: false, error: { code, owner: "author" } });
	});

	it("names the import it refuses", async () => {
		const prepared = await prepare(buildHostile("unknown-import"));
		expect(prepared).toMatchObject({ ok: false, error: { message: expect.stringContaining("env system") } });
	});

	it("links what the manifest asks for", async () => {
		expect(await codeOf(buildHostile("ungranted-import"), { hostFunctions: ["http"] })).toBe("ok");
	});

	it("refuses two memories", async () => {
		// one memory of one page, then the same section with two
		const one = buildText("(module (memory 1))");
		const two = Uint8Array.from([...one.subarray(0, 8), 5, 5, 2, 0, 1, 0, 1]);
		expect(await codeOf(two)).toBe("engine.memory_multiple");
	});

	it("refuses types that are collected outside of linear memory", async () => {
		const header = [0, 97, 115, 109, 1, 0, 0, 0];
		// (type (array (mut i32))), and a function that takes a (ref null any)
		expect(await codeOf(Uint8Array.from([...header, 1, 4, 1, 0x5e, 0x7f, 1]))).toBe("engine.module_unsupported");
		expect(await codeOf(Uint8Array.from([...header, 1, 6, 1, 0x60, 2, 0x63, 0x6e, 0]))).toBe(
			"engine.module_unsupported",
		);
	});

	it("refuses a component, an empty file, and text", async () => {
		expect(await codeOf(Uint8Array.from([0, 97, 115, 109, 13, 0, 1, 0]))).toBe("engine.module_unsupported");
		expect(await codeOf(new Uint8Array())).toBe("engine.module_invalid");
		expect(await codeOf(new TextEncoder().encode("(module)"))).toBe("engine.module_invalid");
	});

	it("refuses a module cut anywhere but between its sections", async () => {
		const bytes = buildHostile("answers");
		const ok: number[] = [];
		for (let length = 0; length < bytes.byteLength; length += 1) {
			if ((await codeOf(bytes.subarray(0, length))) === "ok") ok.push(length);
		}
		// cut between two sections there may be a smaller module left, which does no harm
		expect(ok.length).toBeLessThan(12);
	});

	it("keeps a maximum that is already lower, and takes a minimum at the limit", async () => {
		const lower = await prepare(buildText('(module (memory (export "memory") 1 2))'));
		const full = await prepare(buildText('(module (memory (export "memory") 16))'));
		if (!lower.ok || !full.ok) throw new Error("not prepared");
		const memory = async (module: WebAssembly.Module) =>
			(await WebAssembly.instantiate(module)).exports.memory as WebAssembly.Memory;
		const small = await memory(lower.module);
		expect(small.grow(1)).toBe(1);
		expect(() => small.grow(1)).toThrow(RangeError);
		const large = await memory(full.module);
		expect(() => large.grow(1)).toThrow(RangeError);
		expect(await codeOf(buildText("(module (memory 17))"))).toBe("engine.memory_too_large");
	});

	it("never throws and never lets more memory through, whatever the bytes are", async () => {
		const modules = ["answers", "spins-in-start", "uses-wasi", "grows-table", "catches"].map(buildHostile);
		const mutated = fc
			.tuple(
				fc.constantFrom(...modules),
				fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 6 }),
				fc.nat(),
				fc.boolean(),
			)
			.map(([module, changes, end, cut]) => {
				const bytes = Uint8Array.from(module);
				for (const [place, value] of changes) bytes[place % bytes.byteLength] = value;
				return cut ? bytes.subarray(0, end % bytes.byteLength) : bytes;
			});
		const random = fc
			.uint8Array({ maxLength: 64 })
			.map((tail) => Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, ...tail]));
		await fc.assert(
			fc.asyncProperty(fc.oneof(mutated, random, fc.uint8Array({ maxLength: 64 })), async (bytes) => {
				const prepared = await prepare(bytes);
				if (!prepared.ok) {
					expect(prepared.error.code).toMatch(/^engine\./);
					return;
				}
				const imports: Record<string, Record<string, () => number>> = {};
				for (const { module, name, kind } of WebAssembly.Module.imports(prepared.module)) {
					expect(kind).toBe("function");
					imports[module] = { ...imports[module], [name]: () => 0 };
				}
				// nothing of the module runs here; its data may not fit
				const instance = await WebAssembly.instantiate(prepared.module, imports).catch(() => undefined);
				const memory = Object.values(instance?.exports ?? {}).find((value) => value instanceof WebAssembly.Memory);
				if (memory !== undefined) expect(() => memory.grow(17)).toThrow(RangeError);
			}),
			{ numRuns: 3000 },
		);
	});
});
