import { type Logger as PinoLogger, pino } from "pino";

/** The host's logger. One event and its fields: `log.info({ source, digest }, "source loaded")`. Never a secret. */
export type Logger = Pick<PinoLogger, "debug" | "info" | "warn" | "error" | "child">;

/**
 * A logger that writes JSON lines to a descriptor.
 *
 * @param options.level pino's level, or `silent`
 * @param options.fd 2 (stderr) unless given; stdout belongs to results
 */
export function createLogger(options: { level?: string; fd?: number } = {}): Logger {
	return pino(
		{ name: "mortise", level: options.level ?? "warn", base: null },
		pino.destination({ dest: options.fd ?? 2, sync: true }),
	);
}

/** A logger that hands each line to a function, for tests and for the plugin log tail. */
export function createLineLogger(write: (line: string) => void, level = "debug"): Logger {
	return pino({ name: "mortise", level, base: null }, { write });
}
