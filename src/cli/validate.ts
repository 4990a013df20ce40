import { formatProblems, type ReportFormat, validateFile } from "../capability/index.js";
import { type Context, exitCodes } from "./context.js";

/** `validate FILE…`: all problems of all files with their places; 0 only with none. */
export async function run(
	context: Context,
	args: readonly string[],
	options: Record<string, unknown>,
): Promise<number> {
	const strict = options.strict === true;
	const checked = await Promise.all(args.map((file) => validateFile(file, { strict })));
	const problems = checked.flatMap((each) => each.problems);
	const format = context.json ? "json" : (options.format as ReportFormat);
	const written = formatProblems(problems, format);
	context.print({ problems }, written);
	if (problems.length === 0 && format === "text") context.tell(`${args.length} file(s), no problems`);
	return problems.length === 0 ? exitCodes.ok : exitCodes.refused;
}
