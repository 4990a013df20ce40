import type { Problem } from "../contract/index.js";
import { escapeText } from "../errors.js";

/** How problems are printed. */
export type ReportFormat = "text" | "json" | "sarif";

/**
 * Problems as text: one line each with its fix on the next; as `{ "problems": […] }` (DESIGN section 11); or as a
 * SARIF 2.1.0 log, in which places without a line have no region. Ends without a newline.
 */
export function formatProblems(problems: readonly Problem[], format: ReportFormat): string {
	switch (format) {
		case "text":
			return problems.map(textOf).join("\n");
		case "json":
			return JSON.stringify({ problems }, null, 2);
		case "sarif":
			return JSON.stringify(sarifOf(problems), null, 2);
		default:
			return format satisfies never;
	}
}

function textOf(problem: Problem): string {
	const place = [escapeText(problem.file), ...(problem.line === 0 ? [] : [problem.line, problem.column])].join(":");
	const pointer = problem.pointer === "" ? "" : ` at ${escapeText(problem.pointer)}`;
	const first = `${place}: ${problem.message}${pointer} [${problem.code}]`;
	return problem.fix === undefined ? first : `${first}\n  fix: ${problem.fix}`;
}

function sarifOf(problems: readonly Problem[]) {
	const ids = [...new Set(problems.map((problem) => problem.code))].sort();
	const results = problems.map((problem) => ({
		ruleId: problem.code,
		ruleIndex: ids.indexOf(problem.code),
		level: problem.code === "validate.warning" ? "warning" : "error",
		message: { text: problem.fix === undefined ? problem.message : `${problem.message}. ${problem.fix}` },
		locations: [
			{
				physicalLocation: {
					artifactLocation: { uri: uriOf(problem.file) },
					...(problem.line === 0
						? {}
						: { region: { startLine: problem.line, startColumn: Math.max(problem.column, 1) } }),
				},
				...(problem.pointer === "" ? {} : { logicalLocations: [{ fullyQualifiedName: problem.pointer }] }),
			},
		],
	}));
	return {
		$schema: "https://json.schemastore.org/sarif-2.1.0.json",
		version: "2.1.0",
		runs: [
			{
				tool: { driver: { name: "mortise", rules: ids.map((id) => ({ id })) } },
				// columns count UTF-16 units, as the reader gives them
				columnKind: "utf16CodeUnits",
				results,
			},
		],
	};
}

/** A path as the URI reference that SARIF wants: each segment percent-encoded, absolute paths as `file:`. */
function uriOf(file: string): string {
	const path = file.replaceAll("\\", "/").split("/").map(encodeSegment).join("/");
	return path.startsWith("/") ? `file://${path}` : path;
}

function encodeSegment(segment: string): string {
	return encodeURIComponent(segment.replace(/[\ud800-\udfff]/gu, "\ufffd"));
}
