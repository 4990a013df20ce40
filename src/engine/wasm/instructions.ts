// Runs in: worker.
import { MalformedModule } from "./module-reader.js";

/** An instruction whose work grows with its operands, so that it may run long without a point where V8 can interrupt. */
export type LongInstruction = {
	readonly kind: "memory.fill" | "memory.copy" | "memory.init" | "memory.grow" | "table";
	/** Where its bytes begin and end in the body. */
	readonly from: number;
	readonly to: number;
};

/** A body holds an instruction that is not known here, so nothing can be said about what follows it. */
export class UnknownInstruction extends Error {}

/**
 * Finds the long instructions of a function's code: the bytes after its locals, to the end of the body. Knows WebAssembly
 * 2.0 with SIMD, relaxed SIMD, tail calls, exceptions and atomics (core specification, section 5.4); of the garbage
 * collector's instructions none, since a module with its types is refused before.
 *
 * It follows the lengths of the instructions only: whether they are valid is the compiler's to say.
 *
 * @throws MalformedModule, UnknownInstruction
 */
export function findLongInstructions(code: Uint8Array, start: number): readonly LongInstruction[] {
	const found: LongInstruction[] = [];
	let at = start;
	const byte = (): number => {
		const value = code[at];
		if (value === undefined) throw new MalformedModule("a function ends within an instruction");
		at += 1;
		return value;
	};
	/** A LEB128 number of either sign that is only stepped over. */
	const skipNumber = (): void => {
		for (let length = 1; byte() >= 0x80; length += 1)
			if (length === 10) throw new MalformedModule("a function holds a number that is too long");
	};
	const number = (): number => {
		let value = 0;
		for (let shift = 0; shift < 35; shift += 7) {
			const next = byte();
			value += (next & 0x7f) * 2 ** shift;
			if (next < 0x80) return value;
		}
		throw new MalformedModule("a function holds a number that is too long");
	};
	const skipNumbers = (count: number): void => {
		for (let index = 0; index < count; index += 1) skipNumber();
	};
	const skip = (bytes: number): void => {
		if (bytes > code.length - at) throw new MalformedModule("a function ends within an instruction");
		at += bytes;
	};
	const skipMemoryArgument = (): void => {
		// bit 6 of the alignment announces the index of a memory
		const alignment = number();
		skipNumbers((alignment & 0x40) === 0 ? 1 : 2);
	};
	/** A block's type. One of two bytes could hide what follows from this reader: it is no type a module may have. */
	const skipBlockType = (): void => {
		const first = code[at];
		if (first === 0x63 || first === 0x64) throw unknown(first);
		skipNumber();
	};
	const skipHandlers = (): void => {
		for (let count = number(); count > 0; count -= 1) skipNumbers(byte() < 2 ? 2 : 1);
	};
	const prefixedByFc = (from: number): void => {
		const sub = number();
		if (sub <= 7) return;
		const long = longByFc[sub];
		if (sub === 8 || sub === 10 || sub === 12 || sub === 14) skipNumbers(2);
		else if (sub <= 17) skipNumber();
		else throw unknown(0xfc, sub);
		if (long !== undefined) found.push({ kind: long, from, to: at });
	};
	const prefixedByFd = (): void => {
		const sub = number();
		if (sub <= 11 || sub === 92 || sub === 93) skipMemoryArgument();
		else if (sub === 12 || sub === 13) skip(16);
		else if (sub >= 21 && sub <= 34) skip(1);
		else if (sub >= 84 && sub <= 91) {
			skipMemoryArgument();
			skip(1);
		} else if (sub > 0x113) throw unknown(0xfd, sub);
	};
	const prefixedByFe = (): void => {
		const sub = number();
		if (sub === 3) skip(1);
		else if (sub <= 2 || (sub >= 0x10 && sub <= 0x4e)) skipMemoryArgument();
		else throw unknown(0xfe, sub);
	};

	while (at < code.length) {
		const from = at;
		const opcode = byte();
		if (opcode >= 0x45 && opcode <= 0xc4) continue;
		if (opcode >= 0x28 && opcode <= 0x3e) {
			skipMemoryArgument();
			continue;
		}
		switch (opcode) {
			// unreachable, nop, else, throw_ref, end, return, catch_all, drop, select, ref.is_null
			case 0x00:
			case 0x01:
			case 0x05:
			case 0x0a:
			case 0x0b:
			case 0x0f:
			case 0x19:
			case 0x1a:
			case 0x1b:
			case 0xd1:
				break;
			// block, loop, if, try
			case 0x02:
			case 0x03:
			case 0x04:
			case 0x06:
				skipBlockType();
				break;
			// catch, throw, rethrow; br, br_if; call, return_call; delegate; locals, globals,
			// table.get, table.set; memory.size; i32.const, i64.const; ref.null, ref.func
			case 0x07:
			case 0x08:
			case 0x09:
			case 0x0c:
			case 0x0d:
			case 0x10:
			case 0x12:
			case 0x18:
			case 0x20:
			case 0x21:
			case 0x22:
			case 0x23:
			case 0x24:
			case 0x25:
			case 0x26:
			case 0x3f:
			case 0x41:
			case 0x42:
			case 0xd0:
			case 0xd2:
				skipNumber();
				break;
			case 0x40:
				skipNumber();
				found.push({ kind: "memory.grow", from, to: at });
				break;
			// br_table: a list of labels and one more
			case 0x0e:
				skipNumbers(number() + 1);
				break;
			// call_indirect, return_call_indirect
			case 0x11:
			case 0x13:
				skipNumbers(2);
				break;
			// select with types
			case 0x1c:
				for (let count = number(); count > 0; count -= 1) skipBlockType();
				break;
			// try_table
			case 0x1f:
				skipBlockType();
				skipHandlers();
				break;
			case 0x43:
				skip(4);
				break;
			case 0x44:
				skip(8);
				break;
			case 0xfc:
				prefixedByFc(from);
				break;
			case 0xfd:
				prefixedByFd();
				break;
			case 0xfe:
				prefixedByFe();
				break;
			default:
				throw unknown(opcode);
		}
	}
	return found;
}

const longByFc: { readonly [sub: number]: LongInstruction["kind"] } = {
	8: "memory.init",
	10: "memory.copy",
	11: "memory.fill",
	12: "table",
	14: "table",
	15: "table",
	17: "table",
};

function unknown(...codes: readonly number[]): UnknownInstruction {
	return new UnknownInstruction(codes.map((code) => `0x${code.toString(16).padStart(2, "0")}`).join(" "));
}
