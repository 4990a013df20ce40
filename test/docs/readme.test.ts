import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readVerbs } from "./command-line.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");
const pages = pagesIn(root).map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

describe("the pages a reader meets", () => {
	it("has a README of under 200 lines", () => {
		expect(readme.trimEnd().split("\n").length).toBeLessThan(200);
	});

	it("finds every page", () => {
		expect(pages.map((page) => page.path)).toEqual(
			expect.arrayContaining(["README.md", "CHANGELOG.md", "docs/reference.md", "examples/hello-tool/README.md"]),
		);
	});

	it.each(pages)("links from $path only to what is there", ({ path, text }) => {
		expect(linksOf(text).filter((link) => !leadsSomewhere(path, link))).toEqual([]);
	});

	it.each(pages)("mentions in $path no path of a machine and no registry", ({ text }) => {
		const found = text.match(/(?<![\w.~-])\/(?:home|root|Users|work|tmp|mnt|var|opt)\/\S*|\bregistry\.\S+|\bnpmjs\S*/g);
		expect(found ?? []).toEqual([]);
	});
});

describe("the verbs the pages speak of", async () => {
	const names = (await readVerbs()).map((verb) => verb.name);
	const groups = new Set(names.filter((name) => name.includes(" ")).map((name) => name.split(" ")[0]));

	it.each(pages)("are all in the command line: $path", ({ text }) => {
		const unknown = mentions(text).filter(([first, second]) => {
			if (names.includes(`${first} ${second}`)) return false;
			return groups.has(first) && !names.includes(first) ? true : !names.includes(first);
		});
		expect(unknown.map((words) => words.join(" "))).toEqual([]);
	});
});

/** Every `mortise VERB` in code, with the word after it. */
function mentions(text: string): readonly (readonly [string, string])[] {
	const blocks = [...text.matchAll(/```.*?\n([\s\S]*?)```/g)].map((match) => match[1] ?? "");
	const spans = [...text.replace(/```[\s\S]*?```/g, "").matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");
	return [...blocks, ...spans].flatMap((code) =>
		[...code.matchAll(/(?<![\w./@-])mortise ([a-z]+)(?: ([a-z]+))?/g)].map(
			(match) => [match[1] ?? "", match[2] ?? ""] as const,
		),
	);
}

function linksOf(text: string): readonly string[] {
	const prose = text.replace(/```[\s\S]*?```/g, "").replace(/`[^`\n]*`/g, "");
	return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
		.map((match) => match[1] ?? "")
		.filter((link) => !/^https?:/.test(link));
}

/** Whether a link's file exists, and its heading when it names one. */
function leadsSomewhere(page: string, link: string): boolean {
	const [file = "", heading] = link.split("#");
	const target = file === "" ? join(root, page) : resolve(root, dirname(page), file);
	if (!existsSync(target) || relative(root, target).startsWith("..")) return false;
	if (heading === undefined) return true;
	return !statSync(target).isDirectory() && headingsOf(readFileSync(target, "utf8")).includes(heading);
}

/** Headings as the anchors that a page has for them. */
function headingsOf(text: string): readonly string[] {
	return [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
		(match[1] ?? "")
			.toLowerCase()
			.replace(/[^\p{L}\p{N} _-]/gu, "")
			.replaceAll(" ", "-"),
	);
}

function pagesIn(folder: string): readonly string[] {
	const ignored = new Set(["node_modules", "dist", "test", "coverage"]);
	return readdirSync(folder, { withFileTypes: true })
		.flatMap((entry) => {
			const path = join(folder, entry.name);
			if (entry.isDirectory()) return ignored.has(entry.name) || entry.name.startsWith(".") ? [] : pagesIn(path);
			return entry.name.endsWith(".md") ? [relative(root, path)] : [];
		})
		.sort();
}
