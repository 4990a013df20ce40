import { createStreamRedactor, type StreamRedactor } from "./redact-stream.js";

/** Takes secret values out of text and bytes, in the encodings a server or a message may give them back in. */
export type Redactor = {
	readonly text: (value: string) => string;
	readonly bytes: (value: Uint8Array) => Uint8Array;
	/** Whether a value occurs in any of the encodings. */
	readonly finds: (value: string | Uint8Array) => boolean;
	/** For bytes that come in pieces. */
	readonly stream: () => StreamRedactor;
};

/** Shorter values are not looked for: they would be found in ordinary text. They are never sent either. */
export const minSecretLength = 8;

const mark = "[redacted]";

/**
 * Makes a redactor for some values. Each is found in any letter case, plain or with any of its characters written as
 * `%HH`, `\uHHHH`, a backslash escape or an HTML entity; as UTF-16; as base64 or base64url at all three alignments, also
 * wrapped; as hex; and reversed. A value split into pieces, or transformed in a way only its holder knows, is not found:
 * whoever is given a secret can always pass it on.
 */
export function createRedactor(values: Iterable<string>): Redactor {
	const wanted = [...new Set(values)].filter((value) => value.length >= minSecretLength);
	wanted.sort((left, right) => right.length - left.length);
	const variants = wanted.flatMap((value) => variantsOf(value));
	const patterns = variants.map((pieces) => new RegExp(pieces.join(""), "gi"));
	// one character a byte, so that offsets in text and bytes agree and binary passes unchanged
	const clean = (latin1: string): string => patterns.reduce((rest, pattern) => rest.replace(pattern, mark), latin1);
	const finds = (latin1: string): boolean => patterns.some((pattern) => latin1.search(pattern) >= 0);
	const stream = (): StreamRedactor => createStreamRedactor(variants, clean);
	if (patterns.length === 0) return { text: (value) => value, bytes: (value) => value, finds: () => false, stream };
	return {
		stream,
		text: (value) => {
			const bytes = Buffer.from(value, "utf8").toString("latin1");
			const cleaned = clean(bytes);
			return cleaned === bytes ? value : Buffer.from(cleaned, "latin1").toString("utf8");
		},
		bytes: (value) => {
			const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1");
			const cleaned = clean(bytes);
			return cleaned === bytes ? value : Buffer.from(cleaned, "latin1");
		},
		finds: (value) => finds(Buffer.from(value as Uint8Array).toString("latin1")),
	};
}

/** Every form of a value that is looked for, as the patterns of its parts in order. */
function variantsOf(value: string): string[][] {
	const bytes = Buffer.from(value, "utf8");
	const wide = Buffer.from(value, "utf16le");
	const characters = [...value];
	// every repetition is bounded: a body written to match halfway again and again costs linear time
	return [
		characters.map((character, index) => anyCase(character, index === 0)),
		literals(wide),
		literals(Buffer.from(wide).swap16()),
		literals(Buffer.from(characters.reverse().join(""), "utf8")),
		// a part a digit: a stream may be cut between two
		between(
			[...bytes].map((byte) => hex(byte)),
			"(?:[: -]|\\\\{1,8}x|0x|, ?0x)?",
		).flatMap((part) => [part.slice(0, -1), part.slice(-1)]),
		...[0, 1, 2].map((alignment) => base64At(bytes, alignment)),
	];
}

/** The pattern's own flag folds the case of ASCII only, since it sees bytes. */
function anyCase(character: string, isFirst: boolean): string {
	const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
	const isAscii = (character.codePointAt(0) ?? 0) < 0x80;
	if (isAscii) return escapedForms(character, isFirst);
	return `(?:${[...cases].map((each) => [...each].map((one) => escapedForms(one, isFirst)).join("")).join("|")})`;
}

/** One character as itself or as any escape of it. */
function escapedForms(character: string, isFirst: boolean): string {
	const bytes = Buffer.from(character, "utf8");
	const code = character.codePointAt(0) ?? 0;
	const units = [...Array(character.length).keys()].map((index) =>
		character.charCodeAt(index).toString(16).padStart(4, "0"),
	);
	const named: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" };
	const entity = `&(?:amp;){0,4}(?:#0{0,8}${code}|#x0{0,8}${code.toString(16)}${named[character] === undefined ? "" : `|${named[character]}`});?`;
	const plain = character === "\\" ? "\\\\{1,8}" : character === " " ? "[ +]" : literal(bytes);
	const single = code > 0x7f && code <= 0xff ? `|${literal(Buffer.from([code]))}` : "";
	const percent = [...bytes].map((byte) => `%(?:25){0,4}${hex(byte)}`).join("");
	const unicode = units
		.map((unit) => `\\\\{1,8}u(?:\\{0{0,8})?${unit.replace(/^0+(?=..)/, (zeros) => `0{0,${zeros.length}}`)}\\}?`)
		.join("");
	// a backslash before a plain character is JSON's way (\/ or \"); before the first it would slow the search down
	return `${isFirst ? "" : "\\\\{0,8}?"}(?:${plain}${single}|${percent}|${unicode}|${entity})`;
}

/** The base64 characters that depend on the value alone when it starts at this offset of a triple, plus the mixed ones beside. */
function base64At(bytes: Buffer, alignment: number): string[] {
	const shifted = Buffer.concat([Buffer.alloc(alignment), bytes])
		.toString("base64")
		.replace(/=+$/, "");
	const start = Math.ceil((alignment * 8) / 6);
	const end = Math.floor(((alignment + bytes.length) * 8) / 6);
	const wrap = "(?:[\\r\\n]|\\\\{1,8}[rn]){0,8}";
	const forms = [...shifted.slice(start, end)].map((character) => {
		if (character === "+") return "(?:[+-]|%(?:25){0,4}2b)";
		if (character === "/") return "(?:\\\\{0,8}[/]|_|%(?:25){0,4}2f)";
		return character;
	});
	const mixed = "[a-z0-9+/_-]?";
	const [first = "", ...others] = between(forms, wrap);
	return [`${start === 0 || alignment === 0 ? "" : mixed}${first}`, ...others, mixed];
}

/** Puts a pattern before each part but the first. */
function between(parts: readonly string[], gap: string): string[] {
	return parts.map((part, index) => (index === 0 ? part : `${gap}${part}`));
}

function literal(bytes: Uint8Array): string {
	return literals(bytes).join("");
}

function literals(bytes: Uint8Array): string[] {
	return [...bytes].map((byte) => `\\x${hex(byte)}`);
}

function hex(byte: number): string {
	return byte.toString(16).padStart(2, "0");
}
