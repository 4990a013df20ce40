// Runs in: worker.

/** Bytes that are no WebAssembly module, said for a person. Never leaves `prepare.ts`. */
export class MalformedModule extends Error {}

/** A place in a module, read forwards and never past its end: every read is checked, and a bad one is `MalformedModule`. */
export type ModuleReader = {
	readonly position: () => number;
	readonly left: () => number;
	/** Gives the next byte. */
	readonly byte: () => number;
	/** An unsigned LEB128 number below 2^32, at most five bytes long. */
	readonly number: () => number;
	/** The head of a list: no list holds more items than bytes are left. */
	readonly count: () => number;
	/** A length and that many bytes of UTF-8. */
	readonly name: () => string;
	/** The next bytes, as a view. */
	readonly bytes: (length: number) => Uint8Array;
};

/** Opens bytes for reading. `what` names them in an error. */
export function readModule(source: Uint8Array, what: string): ModuleReader {
	let position = 0;
	const left = () => source.byteLength - position;
	const bytes = (length: number) => {
		if (length > left()) throw new MalformedModule(`${what} ends too early`);
		position += length;
		return source.subarray(position - length, position);
	};
	const byte = () => {
		const value = source[position];
		if (value === undefined) throw new MalformedModule(`${what} ends too early`);
		position += 1;
		return value;
	};
	const number = () => {
		let value = 0;
		for (let place = 0; place < 5; place += 1) {
			const next = byte();
			value += (next & 0x7f) * 2 ** (7 * place);
			if (next < 0x80) {
				if (value >= 2 ** 32) break;
				return value;
			}
		}
		throw new MalformedModule(`${what} holds a number that is too large`);
	};
	const count = () => {
		const value = number();
		if (value > left()) throw new MalformedModule(`${what} claims to hold ${value} items in ${left()} bytes`);
		return value;
	};
	const name = () => {
		const encoded = bytes(number());
		try {
			return strictDecoder.decode(encoded);
		} catch {
			throw new MalformedModule(`${what} holds a name that is not UTF-8`);
		}
	};
	return { position: () => position, left, byte, number, count, name, bytes };
}

// a byte order mark is part of a name, not a mark
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** An unsigned LEB128 number. */
export function encodeNumber(value: number): number[] {
	const out: number[] = [];
	let rest = value;
	do {
		const low = rest % 128;
		rest = Math.floor(rest / 128);
		out.push(rest > 0 ? low + 128 : low);
	} while (rest > 0);
	return out;
}

/** A length and the bytes of a text. */
export function encodeName(value: string): number[] {
	const encoded = new TextEncoder().encode(value);
	return [...encodeNumber(encoded.byteLength), ...encoded];
}
