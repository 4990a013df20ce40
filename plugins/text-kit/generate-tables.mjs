// Writes assembly/tables.ts from the Unicode data of the Node that runs it: `node plugins/text-kit/generate-tables.mjs`.
// Run by hand, when a newer Unicode is wanted; the result is kept, so that every machine builds the same bytes.
import { writeFileSync } from "node:fs";

const last = 0x10ffff;
const latinApart = {
	ß: "ss",
	ẞ: "ss",
	æ: "ae",
	Æ: "ae",
	œ: "oe",
	Œ: "oe",
	ø: "o",
	Ø: "o",
	đ: "d",
	Đ: "d",
	ð: "d",
	Ð: "d",
	þ: "th",
	Þ: "th",
	ħ: "h",
	Ħ: "h",
	ı: "i",
	ł: "l",
	Ł: "l",
	ŋ: "n",
	Ŋ: "n",
	ŧ: "t",
	Ŧ: "t",
	ĸ: "k",
	ŀ: "l",
	Ŀ: "l",
	ŉ: "n",
	ſ: "s",
};

const tables = [
	constant(
		"upperRanges",
		"i32",
		ranges((character) => character.toUpperCase()),
	),
	constant(
		"lowerRanges",
		"i32",
		ranges((character) => character.toLowerCase()),
	),
	constant(
		"upperSpecial",
		"u16",
		special((character) => character.toUpperCase()),
	),
	constant("casedRanges", "u32", property(/^\p{Cased}$/u)),
	constant("ignorableRanges", "u32", property(/^\p{Case_Ignorable}$/u)),
	constant("wordRanges", "u32", property(/^[\p{L}\p{N}\p{M}]$/u)),
	constant("latinLetters", "u32", latin()),
];
const head = `// Made by generate-tables.mjs from Unicode ${process.versions.unicode}. Not edited by hand.\n`;
writeFileSync(new URL("assembly/tables.ts", import.meta.url), head + tables.join(""));

function* characters() {
	for (let point = 0; point <= last; point++)
		if (point < 0xd800 || point > 0xdfff) yield [point, String.fromCodePoint(point)];
}

/** first, last, step, difference: the code points that map to one other. */
function ranges(map) {
	const rows = [];
	for (const [point, character] of characters()) {
		const mapped = map(character);
		if (mapped === character || [...mapped].length !== 1) continue;
		const difference = mapped.codePointAt(0) - point;
		const row = rows.at(-1);
		const gap = row === undefined ? 0 : point - row[1];
		if (row?.[3] === difference && (gap === row[2] || (row[0] === row[1] && gap <= 2))) {
			row[1] = point;
			row[2] = gap;
		} else rows.push([point, point, 1, difference]);
	}
	return rows.flat();
}

/** The code point and the two or three it maps to; 0 where there is no third. All are below U+10000. */
function special(map) {
	const rows = [];
	for (const [point, character] of characters()) {
		const mapped = map(character);
		if ([...mapped].length < 2) continue;
		if (mapped.length > 3 || point > 0xffff) throw new Error(`does not fit: ${point.toString(16)}`);
		rows.push([point, mapped.charCodeAt(0), mapped.charCodeAt(1), mapped.length > 2 ? mapped.charCodeAt(2) : 0]);
	}
	return rows.flat();
}

/** first, last of each range of code points that have a property. */
function property(pattern) {
	const rows = [];
	for (const [point, character] of characters()) {
		if (!pattern.test(character)) continue;
		const row = rows.at(-1);
		if (row !== undefined && row[1] === point - 1) row[1] = point;
		else rows.push([point, point]);
	}
	return rows.flat();
}

/** A Latin letter with marks, and the one to four ASCII letters it becomes, the first in the lowest byte. */
function latin() {
	const rows = [];
	for (const [point, character] of characters()) {
		if (point < 0x80) continue;
		// ligatures such as ﬁ and full-width letters have a compatibility decomposition only
		const form = (point >= 0xfb00 && point <= 0xfb06) || (point >= 0xff21 && point <= 0xff5a) ? "NFKD" : "NFD";
		const bare = latinApart[character] ?? character.normalize(form).replace(/\p{M}/gu, "").toLowerCase();
		if (!/^[a-z]{1,4}$/.test(bare)) continue;
		rows.push([point, [...bare].reduce((packed, letter, index) => packed + letter.charCodeAt(0) * 256 ** index, 0)]);
	}
	return rows.flat();
}

function constant(name, type, values) {
	const lines = [];
	for (let at = 0; at < values.length; at += 16) lines.push(`  ${values.slice(at, at + 16).join(", ")},\n`);
	return `\nexport const ${name}: StaticArray<${type}> = [\n${lines.join("")}];\n`;
}
