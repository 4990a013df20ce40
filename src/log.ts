import { type Logger as PinoLogger, pino } from "pino";

/** The host's logger. One event and its fields: `log.info({ source, digest }, "source loaded")`. Never a secret. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error" | "child">;

/** The levels a logger can have; `silent` logs nothing. */
export const logLevels: readonly string[] = [...Object.keys(pino.levels.values), "silent"];

/** A logger that hands each line, JSON with its line end, to a function. `level` is one of {@link logLevels}. */
export function createLineLogger(write: (line: string) => void, level = "debug"): Logger {
	return pino({ name: "mortise", level, base: null }, { write });
}
