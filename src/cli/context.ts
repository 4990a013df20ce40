import { type Environment, type LoadedConfig, loadConfig, readEnvironment } from "../config.js";
import type { ErrorReport, Problem } from "../contract/index.js";
import { escapeText, HostError, isHostError, reportOf } from "../errors.js";
import { createLineLogger, type Logger, logLevels } from "../log.js";
import { createOutput, type Output } from "./output.js";

/** Exit codes (DESIGN section 11). */
export const exitCodes = { ok: 0, refused: 1, usage: 2, host: 3 } as const;

/** Options every verb takes. */
export type CommonOptions = { readonly json?: boolean; readonly config?: string; readonly home?: string };

/** What a verb works with: where to write, what was asked for everywhere, and the environment. */
export type Context = {
	readonly json: boolean;
	readonly options: CommonOptions;
	readonly environment: Environment;
	readonly log: Logger;
	readonly loadConfig: () => Promise<LoadedConfig>;
	/** Prints the result: the value as JSON with `--json`, else the text. Once a run. */
	readonly print: (value: unknown, text: string) => void;
	/** Tells progress on stderr. */
	readonly tell: (text: string) => void;
	/** Writes a piece of a result as it comes. Absent where nobody looks on: with `--json`, and where stdout is no terminal. */
	readonly piece?: (text: string) => void;
};

export function createContext(options: CommonOptions, output: Output = createOutput()): Context {
	const environment = readEnvironment();
	if (!logLevels.includes(environment.logLevel))
		throw usageError(`MORTISE_LOG is "${environment.logLevel}"; it must be one of ${logLevels.join(", ")}`);
	const json = options.json === true;
	return {
		json,
		options,
		environment,
		log: createLineLogger(output.logLine, environment.logLevel),
		loadConfig: () => loadConfig({ file: options.config, home: options.home }, environment),
		print: (value, text) => (json ? output.json(value) : output.result(text)),
		tell: output.note,
		...(output.isTerminal && !json ? { piece: output.piece } : {}),
	};
}

/** Prints an error as DESIGN section 11 says and gives the exit code. A user's mistake never shows a stack trace. */
export function printError(error: unknown, json: boolean, output: Output = createOutput()): number {
	const report = reportOf(error);
	if (json) output.json({ error: report });
	else output.note(describeError(report));
	return exitCodeOf(error);
}

/** The exit code an error ends in. */
export function exitCodeOf(error: unknown): number {
	const report = reportOf(error);
	if (report.code === "usage") return exitCodes.usage;
	return report.owner === "host" || !isHostError(error) ? exitCodes.host : exitCodes.refused;
}

/** An error as text: whose it is, what happened, each problem, and the next step. */
export function describeError(report: ErrorReport): string {
	const lines = [`error (${report.owner}): ${report.message} [${report.code}]`];
	for (const problem of report.problems ?? []) lines.push(`  ${describeProblem(problem)}`);
	if (report.next !== undefined) lines.push(`  next: ${report.next}`);
	return lines.join("\n");
}

/** One problem as `file:line:column: message (fix) [code]`. */
export function describeProblem(problem: Problem): string {
	const place = problem.line > 0 ? `:${problem.line}:${problem.column}` : "";
	const fix = problem.fix === undefined ? "" : ` (${problem.fix})`;
	return `${escapeText(problem.file)}${place}: ${problem.message}${fix} [${problem.code}]`;
}

/** A usage error: exit code 2. */
export function usageError(detail: string): HostError {
	return new HostError("usage", { detail });
}
