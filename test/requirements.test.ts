import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { requirements } from "./requirements.js";

const root = fileURLToPath(new URL(".", import.meta.url));
const files = readdirSync(root, { recursive: true, withFileTypes: true })
	.filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
	.map((entry) => join(entry.parentPath, entry.name));

type Title = { readonly text: string; readonly proves: boolean };

/** The titles of a test file: first arguments of describe and of it, each and their kind; skipped ones prove nothing. */
function titlesOf(name: string, text: string): Title[] {
	const titles: Title[] = [];
	const visit = (node: ts.Node, inherited: readonly string[]): void => {
		let around = inherited;
		if (ts.isCallExpression(node)) {
			const called = node.expression.getText();
			const first = node.arguments[0];
			if (/^(it|test|describe)\b/.test(called) && first !== undefined && ts.isStringLiteralLike(first)) {
				const words = [...inherited, first.text];
				if (called.startsWith("describe")) around = words;
				else titles.push({ text: words.join(" "), proves: !/\.(skip|todo|fails)\b/.test(called) });
			}
		}
		ts.forEachChild(node, (child) => visit(child, around));
	};
	visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true), []);
	return titles;
}

/** Rule ids a title cites: `C5`, `R81`, and both ends of `R80 to R82` alone. */
function idsOf(title: string): string[] {
	return title.match(/\b[CR][1-9]\d{0,2}\b/g) ?? [];
}

const titles = files.flatMap((file) => titlesOf(file, readFileSync(file, "utf8")));

describe("the rules", () => {
	it("are all listed, by id", () => {
		const ids = Object.keys(requirements);
		const expected = [
			...Array.from({ length: 13 }, (_, index) => `C${index + 1}`),
			...Array.from({ length: 136 }, (_, index) => `R${index + 1}`),
		];
		expect(ids).toEqual(expected);
	});

	it("that are claimed each have a test whose title cites them", () => {
		const proven = new Set(titles.filter((each) => each.proves).flatMap((each) => idsOf(each.text)));
		const claimed = Object.entries(requirements).filter(([, each]) => each.since !== undefined);
		expect(claimed.map(([id]) => id).filter((id) => !proven.has(id))).toEqual([]);
	});

	it("are the only ones that titles cite", () => {
		const cited = titles.flatMap((each) => idsOf(each.text));
		expect([...new Set(cited)].filter((id) => !Object.hasOwn(requirements, id))).toEqual([]);
	});
});

describe("the scanner of this test", () => {
	it("reads titles and their ids, and takes no skipped test for a proof", () => {
		const found = titlesOf(
			"x.ts",
			`describe("${"R"}1 outer", () => { it.each([1])("${"C"}2 %s", () => {}); it.skip("${"C"}3 x", () => {}); });`,
		);
		expect(found.map((each) => [idsOf(each.text), each.proves])).toEqual([
			[["R1", "C2"], true],
			[["R1", "C3"], false],
		]);
		expect(idsOf("R0 R1000 RC1 C12 of SHA256 R999")).toEqual(["C12", "R999"]);
	});
});
