// Prints the table of error codes of docs/reference.md from the built code. `--write` puts it into the page, between the
// two marks; `npm run build` first. A test compares the page with the code.
import { readFileSync, writeFileSync } from "node:fs";
import { errorTable } from "../dist/errors.js";

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
const rows = Object.entries(errorTable)
	.sort(([a], [b]) => (a < b ? -1 : 1))
	.map(([code, { owner, message, next = "" }]) => `| \`${code}\` | ${owner} | ${cell(message)} | ${cell(next)} |`);
const table = ["| code | owner | what happened | what to do |", "|---|---|---|---|", ...rows].join("\n");

if (process.argv.includes("--write")) {
	const page = new URL("../docs/reference.md", import.meta.url);
	const text = readFileSync(page, "utf8");
	const written = text.replace(
		/(<!-- errors: begin -->\n)[\s\S]*(\n<!-- errors: end -->)/,
		(_, begin, end) => begin + table + end,
	);
	writeFileSync(page, written);
} else console.log(table);
