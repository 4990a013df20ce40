import { appendFile, mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import type { HostArguments, JsonObject, JsonValue } from "@mortise/sdk/contract";
import { escapeText } from "../errors.js";
import type { Logger } from "../log.js";
import type { Redactor } from "./redact.js";

/** Caps of plugin logs, in bytes. A file past its cap becomes `ID.log.1`, in place of the one before. */
export const logCaps = { message: 4096, fields: 8192, file: 1024 ** 2 } as const;

/** Lines written in one go: at their longest they stay below the cap of a file. */
const linesAtOnce = 32;
/** Lines waiting for the disk, for one plugin; more are dropped and counted. */
const maxWaiting = 1000;

export type PluginLogOptions = {
	readonly log: Logger;
	/** The folder of the per-plugin files; made when missing. */
	readonly folder: string;
	readonly redactor: () => Redactor;
	readonly now?: () => Date;
};

/** Where plugins' own log lines go: to the host's log with `{ plugin }`, and to `<folder>/<id>.log` as JSON lines. */
export type PluginLog = {
	/** Takes one line: secrets out, invisible characters escaped, cut to the caps. Never throws. */
	readonly write: (line: {
		readonly plugin: string;
		readonly job: string;
		readonly line: HostArguments<"log">;
	}) => void;
	/** Waits until every line taken is on disk. */
	readonly close: () => Promise<void>;
};

type Tail = { waiting: string[]; dropped: number; writing: Promise<void> | undefined; child: Logger };

export function createPluginLog(options: PluginLogOptions): PluginLog {
	const tails = new Map<string, Tail>();
	const now = options.now ?? (() => new Date());
	const tailOf = (plugin: string): Tail => {
		const tail = tails.get(plugin) ?? {
			waiting: [],
			dropped: 0,
			writing: undefined,
			child: options.log.child({ plugin }),
		};
		tails.set(plugin, tail);
		return tail;
	};
	const flush = async (plugin: string, tail: Tail): Promise<void> => {
		await mkdir(options.folder, { recursive: true, mode: 0o700 });
		const file = join(options.folder, `${plugin}.log`);
		while (tail.waiting.length > 0) {
			const text = tail.waiting.splice(0, linesAtOnce).join("");
			const note =
				tail.dropped === 0 ? "" : `${JSON.stringify({ time: now(), level: "warn", dropped: tail.dropped })}\n`;
			tail.dropped = 0;
			const size = await stat(file).then(
				(status) => status.size,
				() => 0,
			);
			if (size > 0 && size + Buffer.byteLength(text + note) > logCaps.file) await rename(file, `${file}.1`);
			await appendFile(file, text + note, { mode: 0o600 });
		}
	};
	return {
		write: ({ plugin, job, line }) => {
			const redactor = options.redactor();
			const tail = tailOf(plugin);
			const message = boundedText(line.message, redactor);
			const fields = line.fields === undefined ? {} : { fields: boundedFields(line.fields, redactor) };
			tail.child[line.level]({ job, ...fields }, message);
			if (tail.waiting.length >= maxWaiting) {
				tail.dropped += 1;
				return;
			}
			tail.waiting.push(`${JSON.stringify({ time: now(), level: line.level, job, message, ...fields })}\n`);
			tail.writing ??= flush(plugin, tail)
				.catch((error: NodeJS.ErrnoException) => {
					tail.waiting = [];
					options.log.warn({ plugin, code: error.code }, "plugin log not written");
				})
				.finally(() => {
					tail.writing = undefined;
				});
		},
		close: async () => {
			await Promise.all([...tails.values()].map((tail) => tail.writing));
		},
	};
}

/** Secrets go before the cut, or the cut could leave the beginning of one; the first cut only bounds the work. */
function boundedText(text: string, redactor: Redactor): string {
	return cut(escapeText(redactor.text(text.slice(0, 16 * logCaps.message))), logCaps.message);
}

function boundedFields(fields: JsonObject, redactor: Redactor): JsonValue {
	const text = JSON.stringify(escapeValue(fields, redactor, 0));
	return Buffer.byteLength(text) <= logCaps.fields ? JSON.parse(text) : { cut: cut(text, logCaps.fields) };
}

function escapeValue(value: JsonValue, redactor: Redactor, depth: number): JsonValue {
	if (depth > 8) return "…";
	if (typeof value === "string") return boundedText(value, redactor);
	if (Array.isArray(value)) return value.slice(0, 1000).map((item) => escapeValue(item, redactor, depth + 1));
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value).slice(0, 1000);
	return Object.fromEntries(
		entries.map(([key, item]) => [boundedText(key, redactor), escapeValue(item as JsonValue, redactor, depth + 1)]),
	);
}

function cut(text: string, maxBytes: number): string {
	const bytes = Buffer.from(text, "utf8");
	if (bytes.length <= maxBytes) return text;
	return `${bytes
		.subarray(0, maxBytes)
		.toString("utf8")
		.replace(/\ufffd+$/, "")}…`;
}
