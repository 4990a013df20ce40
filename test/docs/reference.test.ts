import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { errorTable } from "../../src/errors.js";
import { readVerbs } from "./command-line.js";

const page = readFileSync(new URL("../../docs/reference.md", import.meta.url), "utf8");
const update = "run: npm run build && node scripts/error-table.mjs --write";

describe("the table of error codes in docs/reference.md", () => {
	const table = page.split("<!-- errors: begin -->")[1]?.split("<!-- errors: end -->")[0] ?? "";
	const rows = [...table.matchAll(/^\| `([^`]+)` \| (\w+) \| (.*) \| (.*) \|$/gm)].map(
		([, code, owner, message, next]) => ({
			code,
			owner,
			message: plain(message),
			next: plain(next),
		}),
	);
	const entries = Object.entries(errorTable).map(([code, entry]) => ({
		code,
		owner: entry.owner,
		message: entry.message,
		next: entry.next,
	}));

	it("lists every code of src/errors.ts once, and no other", () => {
		expect(
			rows.map((row) => row.code),
			update,
		).toEqual(entries.map((entry) => entry.code).sort());
	});

	it("gives each code the owner, the sentence and the next step it has in the code", () => {
		const byCode = new Map(rows.map((row) => [row.code, row]));
		for (const entry of entries) expect(byCode.get(entry.code), update).toEqual(entry);
	});
});

describe("the verbs in docs/reference.md", async () => {
	const sections = new Map(
		page.split(/^### mortise /m).map((part) => [part.split("\n")[0] ?? "", part.split(/^##/m)[0] ?? ""]),
	);
	sections.delete(page.split("\n")[0] ?? "");
	const verbs = await readVerbs();

	it("has a section for every verb of the command line, and no other", () => {
		expect([...sections.keys()].sort()).toEqual(verbs.map((verb) => verb.name).sort());
	});

	it.each(verbs)("names every option of mortise $name", ({ name, options }) => {
		const section = sections.get(name) ?? "";
		expect(options.filter((option) => !section.includes(option))).toEqual([]);
	});
});

/** A cell of the table as the text it stands for. */
function plain(cell: string | undefined): string {
	return (cell ?? "").replaceAll("\\|", "|").replaceAll("&lt;", "<");
}
