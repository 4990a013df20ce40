import { createTestHost } from "@mortise/sdk/testing";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleFile, openBundle } from "./open.js";

const unicode = "17.0";
const newer = process.versions.unicode !== unicode;
const anyText = fc.string({ unit: "binary", maxLength: 200 });
// letters whose case depends on neighbours, marks, joiners, halves of pairs, ends of lines
const trickyText = fc
	.array(
		fc.constantFrom(
			..."ΣσςΑα'.:ǅßŉİıﬁἀᾳᾼ\u0345\u0307\u00ad\u200d\u{1f600}\u{10400} \t\r\n\u2028-9",
			"\ud800",
			"\udc00",
		),
	)
	.map((parts) => parts.join(""));

describe("text-kit", () => {
	let opened: Awaited<ReturnType<typeof openBundle>>;
	beforeAll(async () => {
		opened = await openBundle("text-kit", createTestHost().host);
	});

	async function run(name: string, value: string): Promise<{ text: string; structured: unknown }> {
		const result = await opened.call("tool.call", { name, arguments: { text: value } });
		if (!result.ok) throw new Error(JSON.stringify(result.failure));
		const output = result.output as { content: [{ text: string }]; structured?: unknown };
		return { text: output.content[0].text, structured: output.structured };
	}

	it("is smaller than 60 KB and imports only what it uses of extism:host/env", async () => {
		const bytes = bundleFile("text-kit", "plugin.wasm");
		expect(bytes.length).toBeLessThan(60_000);
		const imports = WebAssembly.Module.imports(await WebAssembly.compile(Uint8Array.from(bytes)));
		expect([...new Set(imports.map(({ module }) => module))]).toEqual(["extism:host/env"]);
		expect(imports.map(({ name }) => name).sort()).toEqual(
			["alloc", "input_length", "input_load_u64", "input_load_u8", "output_set", "store_u64", "store_u8"].sort(),
		);
	});

	it.skipIf(newer).each([
		["text_upper", (text: string) => text.toUpperCase()],
		["text_lower", (text: string) => text.toLowerCase()],
		["text_slug", slug],
	])(`%s equals JavaScript for every code point (skipped where Unicode is not ${unicode})`, async (name, reference) => {
		for (let first = 0; first < 0x110000; first += 0x4000) {
			const points = Array.from({ length: 0x4000 }, (_, index) => String.fromCodePoint(first + index));
			const all = points.join("|");
			if ((await run(name, all)).text === reference(all)) continue;
			for (const point of points)
				expect({ point, got: (await run(name, point)).text }).toEqual({ point, got: reference(point) });
		}
	});

	it.each([
		["text_upper", (text: string) => text.toUpperCase()],
		["text_lower", (text: string) => text.toLowerCase()],
		["text_reverse", (text: string) => [...text].reverse().join("")],
		["text_slug", slug],
	])("%s equals JavaScript for any text", async (name, reference) => {
		const equal = async (text: string) => {
			expect((await run(name, text)).text).toBe(reference(text));
		};
		await fc.assert(fc.asyncProperty(trickyText, equal), { numRuns: 300 });
		if (!newer) await fc.assert(fc.asyncProperty(anyText, equal), { numRuns: 300 });
	});

	it("text_count equals JavaScript for any text", async () => {
		const equal = async (text: string) => {
			expect((await run("text_count", text)).structured).toEqual(countsOf(text));
		};
		await fc.assert(fc.asyncProperty(fc.oneof(trickyText, anyText), equal), { numRuns: 400 });
	});

	it.each([
		["Crème brûlée & Œuvre: Straße #1", "creme-brulee-oeuvre-strasse-1"],
		["  --Don’t  panic!-- ", "dont-panic"],
		["Привет, мир!", "привет-мир"],
		["日本語 テキスト", "日本語-テキスト"],
		["Cre\u0301me ﬁn", "creme-fin"],
		["!!!", ""],
	])("makes a slug of %j", async (text, expected) => {
		expect((await run("text_slug", text)).text).toBe(expected);
	});

	it("turns a long text within its budget", async () => {
		const long = 'Σας ß 日本 😀 "\\\n'.repeat(8000);
		expect((await run("text_lower", long)).text).toBe(long.toLowerCase());
	});

	it.each([
		["an unknown argument", { text: "a", more: 1 }, "invalid_input"],
		["a number", { text: 1 }, "invalid_input"],
		["no argument", {}, "invalid_input"],
	])("refuses %s", async (_what, args, code) => {
		const result = await opened.call("tool.call", { name: "text_upper", arguments: args });
		expect(result).toMatchObject({ ok: false, failure: { code } });
	});
});

function countsOf(text: string) {
	const lines = text.split(/\r\n|[\n\r\u2028\u2029]/);
	if (lines.at(-1) === "") lines.pop();
	return {
		characters: [...text].length,
		words: text.split(/\s+/).filter((word) => word !== "").length,
		lines: lines.length,
		bytes: new TextEncoder().encode(text).length,
	};
}

/** The rule of the README, said another way. */
function slug(text: string): string {
	const apart: Record<string, string> = {
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
	const words: string[] = [""];
	for (const character of text) {
		if (/[\u0300-\u036f'’]/.test(character)) continue;
		const plain = /[\ufb00-\ufb06\uff21-\uff5a]/.test(character)
			? character.normalize("NFKD")
			: character.normalize("NFD");
		const bare = (apart[character] ?? plain.replace(/\p{M}/gu, "")).toLowerCase();
		const last = words.length - 1;
		if (/^[a-z]+$/.test(bare)) words[last] += bare;
		else if (/[\p{L}\p{N}\p{M}]/u.test(character)) words[last] += character === "İ" ? "i̇" : character.toLowerCase();
		else words.push("");
	}
	return words.filter((word) => word !== "").join("-");
}
