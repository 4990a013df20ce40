// Runs in: worker.
import type { HostFunction } from "@mortise/sdk/contract";
import type { ErrorReport } from "../../contract/index.js";
import { type ErrorCode, type ErrorFields, errorReport, HostError, isHostError, reportOf } from "../../errors.js";
import { boundBulk } from "./bound-bulk.js";
import { UnknownInstruction } from "./instructions.js";
import {
	environmentFunctions,
	extismEnvironment,
	hostModule,
	preparedExport,
	preparedImport,
	startExport,
	wasiModule,
} from "./link-names.js";
import { encodeName, encodeNumber, MalformedModule, type ModuleReader, readModule } from "./module-reader.js";
import { valueTypes } from "./value-types.js";
import { wasiFunctions } from "./wasi.js";

/** A module made safe to instantiate. */
export type PreparedModule = {
	readonly ok: true;
	/** Crosses threads; compiled once per digest. */
	readonly module: WebAssembly.Module;
	/** What the author's module imports, in its own words. */
	readonly imports: readonly { readonly module: string; readonly name: string }[];
	/** The names of the functions it exports, in its own words. */
	readonly exports: readonly string[];
	/** Whether it imports WASI, of which it gets what needs no files (`wasi.ts`). */
	readonly wasi: boolean;
};

/** How a module is prepared. */
export type PrepareOptions = {
	/** What its linear memory may grow to, in bytes; whole pages of 64 KiB count. */
	readonly memoryBytes: number;
	/** Host functions its manifest asks for, granted or not; `log`, `now` and `random` need no asking. Absent: those alone. */
	readonly hostFunctions?: readonly HostFunction[];
};

/** Tables live outside linear memory, where no memory limit reaches: so many a module, so many entries each. */
const maxTables = 16;
const maxTableEntries = 131_072;
const pageBytes = 65_536;
const maxPages = 65_536;

/**
 * Checks a module and rewrites what must not be left to it, then compiles it. Never rejects.
 *
 * - its memory's maximum becomes the limit, so that `memory.grow` fails past it; a table's likewise;
 * - memory that is imported, shared, 64-bit or not the only one is refused, and so is a minimum above the limit;
 * - imports are held against a closed list: `extism:host/env`, the `mortise_…` functions asked for, and WASI preview 1;
 * - instructions whose work grows with their operands are cut into bounded ones (`bound-bulk.ts`);
 * - its start function and its initialisers no longer run by themselves at instantiation, but when the engine calls
 *   them, under the watchdog.
 *
 * Errors (owner author): `engine.module_invalid`, `engine.module_unsupported`, `engine.memory_too_large`,
 * `engine.memory_shared`, `engine.memory_64bit`, `engine.memory_multiple`, `engine.memory_imported`,
 * `engine.table_too_large`, `engine.import_unknown`, `engine.import_not_asked`, `engine.import_kind`.
 */
export async function prepareModule(
	bytes: Uint8Array,
	options: PrepareOptions,
): Promise<PreparedModule | { readonly ok: false; readonly error: ErrorReport }> {
	try {
		const rewritten = rewriteModule(bytes, options);
		const module = await WebAssembly.compile(rewritten.bytes);
		return { ok: true, module, imports: rewritten.imports, exports: rewritten.exports, wasi: rewritten.wasi };
	} catch (error) {
		if (isHostError(error)) return { ok: false, error: reportOf(error) };
		const detail = error instanceof Error ? error.message : String(error);
		return { ok: false, error: errorReport("engine.module_invalid", { detail }) };
	}
}

type Rewriting = {
	readonly options: PrepareOptions;
	readonly imports: { readonly module: string; readonly name: string }[];
	readonly exports: string[];
	/** The index of the start function, once its section was read. */
	start: number | undefined;
};

const section = { type: 1, import: 2, function: 3, table: 4, memory: 5, export: 7, start: 8, code: 10 } as const;
const lastSection = 13;

function rewriteModule(bytes: Uint8Array, options: PrepareOptions) {
	const reader = readModule(bytes, "the module");
	checkHeader(reader);
	const rewriting: Rewriting = { options, imports: [], exports: [], start: undefined };
	const sections: { id: number; body: Uint8Array }[] = [];
	const seen = new Set<number>();
	while (reader.left() > 0) {
		const id = reader.byte();
		const body = reader.bytes(reader.number());
		if (id > lastSection) throw new MalformedModule(`it has a section of an unknown kind (${id})`);
		if (id !== 0 && seen.has(id)) throw new MalformedModule(`it has two sections of one kind (${id})`);
		seen.add(id);
		const rewritten = rewriteSection(id, body, rewriting);
		// the place of the export section is kept even where there is none: the start function becomes an export
		if (rewritten === undefined) {
			if (!seen.has(section.export)) sections.push({ id: section.export, body: Uint8Array.of(0) });
		} else sections.push({ id, body: rewritten });
	}
	if (rewriting.start !== undefined) addStartExport(sections, rewriting.start);
	boundCode(sections, rewriting.imports.length);
	return {
		bytes: joinSections(bytes.subarray(0, 8), sections),
		imports: rewriting.imports,
		exports: rewriting.exports,
		wasi: rewriting.imports.some((imported) => imported.module === wasiModule),
	};
}

/** Puts points of interruption into the code (`bound-bulk.ts`). */
function boundCode(sections: readonly { id: number; body: Uint8Array }[], importedFunctions: number): void {
	const of = (id: number) => sections.find((each) => each.id === id);
	const types = of(section.type);
	const functions = of(section.function);
	const code = of(section.code);
	if (types === undefined || functions === undefined || code === undefined) return;
	try {
		const bounded = boundBulk({ types: types.body, functions: functions.body, code: code.body }, importedFunctions);
		types.body = bounded.types;
		functions.body = bounded.functions;
		code.body = bounded.code;
	} catch (error) {
		if (error instanceof UnknownInstruction)
			refuse("engine.module_unsupported", { what: `code with ${error.message}` });
		throw error;
	}
}

function checkHeader(reader: ModuleReader): void {
	const header = [...reader.bytes(Math.min(8, reader.left()))];
	const magic = header.slice(0, 4).join();
	if (magic !== "0,97,115,109") throw new MalformedModule("it is no WebAssembly module");
	const version = header.slice(4).join();
	if (version === "13,0,1,0") refuse("engine.module_unsupported", { what: "a component, not a core module" });
	if (version !== "1,0,0,0") throw new MalformedModule("it is of an unknown version of WebAssembly");
}

/** The new body of a section, or nothing where it is left out. */
function rewriteSection(id: number, body: Uint8Array, rewriting: Rewriting): Uint8Array | undefined {
	switch (id) {
		case section.type:
			checkTypes(body);
			return body;
		case section.import:
			return rewriteImports(body, rewriting);
		case section.table:
			return rewriteTables(body);
		case section.memory:
			return rewriteMemory(body, rewriting.options.memoryBytes);
		case section.export:
			return rewriteExports(body, rewriting);
		case section.start: {
			const reader = readModule(body, "the start section");
			rewriting.start = reader.number();
			atEnd(reader);
			return undefined;
		}
		default:
			return body;
	}
}

function checkTypes(body: Uint8Array): void {
	const reader = readModule(body, "the type section");
	const count = reader.count();
	for (let index = 0; index < count; index += 1) {
		if (reader.byte() !== 0x60) refuse("engine.module_unsupported", { what: "types that the host collects (GC)" });
		for (const _ of ["parameters", "results"]) {
			for (const type of reader.bytes(reader.count())) {
				if (!valueTypes.has(type)) refuse("engine.module_unsupported", { what: "types that the host collects (GC)" });
			}
		}
	}
	atEnd(reader);
}

function rewriteImports(body: Uint8Array, { options, imports }: Rewriting): Uint8Array {
	const reader = readModule(body, "the import section");
	const count = reader.count();
	const out = encodeNumber(count);
	for (let index = 0; index < count; index += 1) {
		const module = reader.name();
		const name = reader.name();
		const kind = reader.byte();
		if (kind === 2) refuse("engine.memory_imported", { import: `${module} ${name}` });
		if (kind !== 0) refuse("engine.import_kind", { import: `${module} ${name}` });
		checkImport(module, name, options.hostFunctions ?? []);
		imports.push({ module, name });
		out.push(...encodeName(preparedImport(module, name)), ...encodeName(name), 0, ...encodeNumber(reader.number()));
	}
	atEnd(reader);
	return Uint8Array.from(out);
}

function checkImport(module: string, name: string, asked: readonly HostFunction[]): void {
	const known: readonly string[] =
		module === extismEnvironment ? environmentFunctions : module === wasiModule ? wasiFunctions : [];
	if (known.includes(name)) return;
	if (module === hostModule && name.startsWith("mortise_")) {
		const linked: readonly string[] = ["log", "now", "random", ...asked];
		const host = name.slice("mortise_".length);
		if (linked.includes(host)) return;
		refuse("engine.import_not_asked", { import: `${module} ${name}`, name: host });
	}
	refuse("engine.import_unknown", { import: `${module} ${name}` });
}

function rewriteTables(body: Uint8Array): Uint8Array {
	const reader = readModule(body, "the table section");
	const count = reader.count();
	if (count > maxTables) refuse("engine.table_too_large", { detail: `${count} tables, more than ${maxTables}` });
	const out = encodeNumber(count);
	for (let index = 0; index < count; index += 1) {
		const type = reader.byte();
		const flags = reader.byte();
		if ((type !== 0x70 && type !== 0x6f) || flags > 1) {
			refuse("engine.module_unsupported", { what: "a kind of table that is not provided" });
		}
		const minimum = reader.number();
		const maximum = flags === 1 ? reader.number() : maxTableEntries;
		if (minimum > maxTableEntries) {
			refuse("engine.table_too_large", { detail: `a table of ${minimum} entries, more than ${maxTableEntries}` });
		}
		out.push(type, 1, ...encodeNumber(minimum), ...encodeNumber(Math.min(maximum, maxTableEntries)));
	}
	atEnd(reader);
	return Uint8Array.from(out);
}

function rewriteMemory(body: Uint8Array, memoryBytes: number): Uint8Array {
	const cap = Math.min(Math.floor(memoryBytes / pageBytes), maxPages);
	const reader = readModule(body, "the memory section");
	const count = reader.count();
	if (count > 1) refuse("engine.memory_multiple", { count });
	const out = encodeNumber(count);
	if (count === 1) {
		const flags = reader.byte();
		if ((flags & 2) !== 0) refuse("engine.memory_shared");
		if ((flags & 4) !== 0) refuse("engine.memory_64bit");
		if (flags > 1) refuse("engine.module_unsupported", { what: "a kind of memory that is not provided" });
		const minimum = reader.number();
		const maximum = flags === 1 ? reader.number() : maxPages;
		if (minimum > cap) {
			refuse("engine.memory_too_large", { bytes: minimum * pageBytes, maxBytes: memoryBytes });
		}
		if (maximum < minimum) throw new MalformedModule("its memory's maximum is below its minimum");
		out.push(1, ...encodeNumber(minimum), ...encodeNumber(Math.min(maximum, cap)));
	}
	atEnd(reader);
	return Uint8Array.from(out);
}

function rewriteExports(body: Uint8Array, { exports }: Rewriting): Uint8Array {
	const reader = readModule(body, "the export section");
	const count = reader.count();
	const pieces: Uint8Array[] = [Uint8Array.from(encodeNumber(count))];
	for (let index = 0; index < count; index += 1) {
		const name = reader.name();
		const kind = reader.byte();
		const target = reader.number();
		if (kind === 0) exports.push(name);
		const prepared = kind === 0 ? preparedExport(name) : name;
		pieces.push(Uint8Array.from([...encodeName(prepared), kind, ...encodeNumber(target)]));
	}
	atEnd(reader);
	return Buffer.concat(pieces);
}

function addStartExport(sections: { id: number; body: Uint8Array }[], start: number): void {
	const exports = sections.find(({ id }) => id === section.export);
	if (exports === undefined) throw new MalformedModule("its sections are in a wrong order");
	const reader = readModule(exports.body, "the export section");
	const count = reader.number();
	const added = [...encodeName(startExport), 0, ...encodeNumber(start)];
	exports.body = Buffer.concat([
		Uint8Array.from(encodeNumber(count + 1)),
		reader.bytes(reader.left()),
		Uint8Array.from(added),
	]);
}

function joinSections(
	header: Uint8Array,
	sections: readonly { id: number; body: Uint8Array }[],
): Uint8Array<ArrayBuffer> {
	const pieces = sections.flatMap(({ id, body }) => [Uint8Array.from([id, ...encodeNumber(body.byteLength)]), body]);
	return Buffer.concat([header, ...pieces]);
}

function atEnd(reader: ModuleReader): void {
	if (reader.left() > 0) throw new MalformedModule("a section is longer than what it holds");
}

function refuse(code: ErrorCode, fields: ErrorFields = {}): never {
	throw new HostError(code, fields);
}
