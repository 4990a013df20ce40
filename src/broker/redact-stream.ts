/** Takes secret values out of a stream of bytes, also where one is cut between two pieces. */
export type StreamRedactor = {
	/** What can be passed on by now: all but an end that may be the beginning of a value. */
	readonly push: (piece: Uint8Array) => Uint8Array;
	/** What was held back. */
	readonly end: () => Uint8Array;
};

/** An escaped character that is not whole yet. */
const partialEscape = "[%\\\\&][%\\\\&#;:{}0-9a-z]{0,40}";
/** What may stand after the last whole character: a gap as between hex digits or in lines of base64, and a partial one. */
const partial = `[ :,\\r\\n-]{0,8}(?:${partialEscape}|[\\x80-\\xff]{1,3}|0x?)?`;
/** The end of a piece in which a first character may be begun. */
const firstPartial = `(?:${partialEscape}|[\\xc0-\\xff][\\x80-\\xbf]{0,2})$`;
/** The longest end looked at, in bytes for each character of the longest value: escapes are that long at most. */
const bytesPerCharacter = 48;

/**
 * Makes a redactor for one stream. It cleans what has come so far and holds back the shortest end that could still turn
 * into one of the values, so that whatever cannot is passed on at once.
 *
 * @param variants each form of each value as the patterns of its characters, in order
 * @param clean takes whole values out; one character a byte
 */
export function createStreamRedactor(
	variants: readonly (readonly string[])[],
	clean: (latin1: string) => string,
): StreamRedactor {
	if (variants.length === 0) return { push: (piece) => piece, end: () => new Uint8Array() };
	const begun = variants.map((pieces) => new RegExp(`${beginningOf(pieces)}${partial}$`, "i"));
	const first = new RegExp(firstPartial, "i");
	const longest = Math.max(...variants.map((pieces) => pieces.length)) * bytesPerCharacter;
	let held = "";
	return {
		push: (piece) => {
			const text = clean(held + Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString("latin1"));
			const from = Math.max(0, text.length - longest);
			const end = text.slice(from);
			const cuts = [...begun, first].map((pattern) => end.search(pattern)).filter((index) => index >= 0);
			const cut = from + Math.min(end.length, ...cuts);
			held = text.slice(cut);
			return Buffer.from(text.slice(0, cut), "latin1");
		},
		end: () => {
			const rest = Buffer.from(clean(held), "latin1");
			held = "";
			return rest;
		},
	};
}

/** The first character, and any number of those that follow it. */
function beginningOf(pieces: readonly string[]): string {
	const [first = "", ...others] = pieces;
	return first + others.reduceRight((rest, piece) => `(?:${piece}${rest})?`, "");
}
