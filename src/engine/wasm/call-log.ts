// Runs in: worker.
import type { JsonObject } from "@mortise/sdk/contract";
import type { HostPort } from "../../contract/index.js";
import { heardByMany } from "../../heard-by-many.js";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** What one call logged, held back until its stretch is over: a stretch may be stopped in the middle of anything. */
export type CallLog = {
	/** Keeps a message, cut to its bound; past the call's bounds it is dropped and counted. */
	readonly add: (level: LogLevel, message: string, fields?: JsonObject) => void;
	/** Sends what was kept, without waiting for answers, and how many messages were dropped. */
	readonly flush: (host: HostPort) => void;
};

/** Messages, and bytes of them, that one call may log; and characters of one message. */
export const maxLogMessages = 200;
export const maxLogBytes = 65_536;
export const maxMessageCharacters = 4096;

const never = heardByMany(new AbortController().signal);

/** Starts the log of one call. */
export function createCallLog(): CallLog {
	const kept: { level: LogLevel; message: string; fields?: JsonObject }[] = [];
	let bytes = 0;
	let dropped = 0;
	return {
		add: (level, message, fields) => {
			if (kept.length < maxLogMessages) {
				const cut = message.length > maxMessageCharacters ? `${message.slice(0, maxMessageCharacters)}…` : message;
				const size = cut.length + (fields === undefined ? 0 : JSON.stringify(fields).length);
				if (bytes + size <= maxLogBytes) {
					bytes += size;
					kept.push({ level, message: cut, ...(fields === undefined ? {} : { fields }) });
					return;
				}
			}
			dropped += 1;
		},
		flush: (host) => {
			if (dropped > 0) {
				kept.push({ level: "warn", message: "more was logged than one call may", fields: { dropped } });
			}
			for (const entry of kept.splice(0)) void host.call("log", entry, never);
		},
	};
}
