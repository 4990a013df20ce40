// Runs in: worker.
import { findLongInstructions, type LongInstruction, UnknownInstruction } from "./instructions.js";
import { encodeNumber, MalformedModule, readModule } from "./module-reader.js";
import { valueTypes } from "./value-types.js";

/** The sections that are rewritten, as bodies without their heads. */
export type CodeSections = { readonly types: Uint8Array; readonly functions: Uint8Array; readonly code: Uint8Array };

type Helper = "pause" | "fill" | "copy";

/**
 * Puts points where V8 can interrupt between long instructions, and within those over memory. V8 looks for an interrupt
 * at the head of loops and functions only: without this, thousands of `memory.fill` in a row run for as long as they
 * take, past any watchdog.
 *
 * - `memory.fill` and `memory.copy` become calls of added functions, which work 64 KiB at a time; out of bounds they trap
 *   before anything is written, as the instruction does;
 * - before `memory.init`, `memory.grow` and the table instructions, whose work is bounded by the module's size and its
 *   tables, stands a call of a function that is one small loop.
 *
 * Added functions and types come last, so every index of the module stays what it was. Nothing changes in a module
 * without long instructions.
 *
 * @param importedFunctions how many functions the module imports
 * @throws MalformedModule, UnknownInstruction
 */
export function boundBulk(sections: CodeSections, importedFunctions: number): CodeSections {
	const types = openVector(sections.types, "the type section");
	const functions = openVector(sections.functions, "the function section");
	const reader = readModule(sections.code, "the code section");
	const count = reader.count();
	const helpers: Helper[] = [];
	const callOf = (helper: Helper): readonly number[] => {
		if (!helpers.includes(helper)) helpers.push(helper);
		return [0x10, ...encodeNumber(importedFunctions + functions.count + helpers.indexOf(helper))];
	};
	const bodies: Uint8Array[] = [];
	for (let index = 0; index < count; index += 1) bodies.push(boundBody(reader.bytes(reader.number()), callOf));
	if (reader.left() > 0) throw new MalformedModule("the code section is longer than what it holds");
	if (helpers.length === 0) return sections;
	return {
		types: Buffer.concat([head(types.count + 2), types.items, memoryType, pauseType]),
		functions: Buffer.concat([
			head(functions.count + helpers.length),
			functions.items,
			...helpers.map((helper) => head(helper === "pause" ? types.count + 1 : types.count)),
		]),
		code: Buffer.concat([
			head(count + helpers.length),
			...bodies,
			...helpers.map((helper) => sized(helperBody[helper])),
		]),
	};
}

function boundBody(body: Uint8Array, callOf: (helper: Helper) => readonly number[]): Uint8Array {
	const long = findLongInstructions(body, endOfLocals(body));
	if (long.length === 0) return sized(body);
	const pieces: Uint8Array[] = [];
	let done = 0;
	for (const instruction of long) {
		pieces.push(body.subarray(done, instruction.from));
		const { helper, isReplaced } = helperFor(instruction);
		pieces.push(Uint8Array.from(callOf(helper)));
		if (!isReplaced) pieces.push(body.subarray(instruction.from, instruction.to));
		done = instruction.to;
	}
	pieces.push(body.subarray(done));
	return sized(Buffer.concat(pieces));
}

function helperFor({ kind }: LongInstruction): { readonly helper: Helper; readonly isReplaced: boolean } {
	if (kind === "memory.fill") return { helper: "fill", isReplaced: true };
	if (kind === "memory.copy") return { helper: "copy", isReplaced: true };
	return { helper: "pause", isReplaced: false };
}

function endOfLocals(body: Uint8Array): number {
	const reader = readModule(body, "a function");
	for (let groups = reader.count(); groups > 0; groups -= 1) {
		reader.number();
		const type = reader.byte();
		if (!valueTypes.has(type)) throw new UnknownInstruction(`a local of the type 0x${type.toString(16)}`);
	}
	return reader.position();
}

function openVector(body: Uint8Array, what: string): { readonly count: number; readonly items: Uint8Array } {
	const reader = readModule(body, what);
	const count = reader.count();
	return { count, items: reader.bytes(reader.left()) };
}

function head(value: number): Uint8Array {
	return Uint8Array.from(encodeNumber(value));
}

function sized(body: Uint8Array): Uint8Array {
	return Buffer.concat([head(body.byteLength), body]);
}

const i32 = 0x7f;
/** `(i32, i32, i32) -> ()` and `() -> ()`. */
const memoryType = Uint8Array.of(0x60, 3, i32, i32, i32, 0);
const pauseType = Uint8Array.of(0x60, 0, 0);

const chunkBytes = 65_536;
const chunk = [0x41, ...encodeSigned(chunkBytes)];
const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const fill = [0xfc, 11, 0];
const copy = [0xfc, 10, 0, 0];
/** Whether `local` + parameter 2 lies within memory, as i64 so that it cannot wrap. */
const within = (local: number): number[] => [
	...[...get(local), 0xad, ...get(2), 0xad, 0x7c],
	// memory.size, pages to bytes; i64.le_u
	...[0x3f, 0, 0xad, 0x42, 16, 0x86, 0x58],
];
const add = (local: number): number[] => [...get(local), ...chunk, 0x6a, ...set(local)];
const less = (local: number): number[] => [...get(local), ...chunk, 0x6b, ...set(local)];
/** While more than a chunk is left: `body`, one chunk less, again. */
const perChunk = (body: readonly number[]): number[] => [
	...[0x03, 0x40, ...get(2), ...chunk, 0x4b, 0x04, 0x40],
	...body,
	...less(2),
	...[0x0c, 1, 0x0b, 0x0b],
];
const whole = [...get(0), ...get(1), ...get(2)];
const when = (condition: readonly number[], body: readonly number[]): number[] => [
	...condition,
	...[0x04, 0x40, ...body, 0x0b],
];

/** Bodies with the list of their locals. What is left after the chunks, or is out of bounds, is done by the instruction. */
const helperBody: { readonly [helper in Helper]: Uint8Array } = {
	pause: Uint8Array.from([
		// a loop of two rounds, so that it is one for every compiler
		...[1, 1, i32],
		...[0x03, 0x40, ...get(0), 0x41, 1, 0x6a, 0x22, 0, 0x41, 2, 0x49, 0x0d, 0, 0x0b, 0x0b],
	]),
	fill: Uint8Array.from([
		0,
		...when(within(0), perChunk([...get(0), ...get(1), ...chunk, ...fill, ...add(0)])),
		...[...whole, ...fill, 0x0b],
	]),
	copy: Uint8Array.from([
		0,
		...when(
			[...within(0), ...within(1), 0x71],
			[
				// forwards when the target does not lie above the source; else from the end, so that nothing is read too late
				...[...get(0), ...get(1), 0x4d, 0x04, 0x40],
				...perChunk([...get(0), ...get(1), ...chunk, ...copy, ...add(0), ...add(1)]),
				0x05,
				...perChunk([
					...[...get(0), ...get(2), 0x6a, ...chunk, 0x6b],
					...[...get(1), ...get(2), 0x6a, ...chunk, 0x6b],
					...[...chunk, ...copy],
				]),
				0x0b,
			],
		),
		...[...whole, ...copy, 0x0b],
	]),
};

/** A signed LEB128 number, for constants. */
function encodeSigned(value: number): number[] {
	const out: number[] = [];
	for (let rest = value; ; ) {
		const low = rest & 0x7f;
		rest >>= 7;
		const isLast = (rest === 0 && (low & 0x40) === 0) || (rest === -1 && (low & 0x40) !== 0);
		out.push(isLast ? low : low | 0x80);
		if (isLast) return out;
	}
}
