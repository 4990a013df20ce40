import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AuditRecord } from "../contract/index.js";
import { openLock } from "../database.js";
import { HostError } from "../errors.js";
import { decide, type GateDecision, type GateInput } from "./gate.js";

/** The audit log: JSON lines, appended and never rewritten, each holding the digest of the line before it. */
export type AuditLog = {
	/** Writes one record before it returns. Throws `audit.write_failed`. */
	readonly append: (record: AuditRecord) => void;
	readonly close: () => void;
};

/** A line's link to the one before: SHA-256 of its bytes, in hex; of the first line, zeros. */
export const firstLink = "0".repeat(64);

/** The link that the line after this one holds. */
export function linkOf(line: Uint8Array | string): string {
	return createHash("sha256").update(line).digest("hex");
}

/**
 * Opens the audit log (`<home>/logs/audit.jsonl`), making its folder; the file is for its owner only and a link in its
 * place is refused. A line that a crash cut short is closed, so that the next record stands on its own. Several processes
 * may append: each record is linked and written under a lock (`audit.lock` beside the file).
 *
 * @throws HostError `audit.write_failed`
 */
export function openAuditLog(path: string): AuditLog {
	const { descriptor, lock } = attempt(path, () => {
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
		const opened = openSync(path, flags, 0o600);
		try {
			if (!fstatSync(opened).isFile()) throw new Error("it is not a plain file");
			return { descriptor: opened, lock: openLock(join(dirname(path), "audit.lock")) };
		} catch (error) {
			closeSync(opened);
			throw error;
		}
	});
	let known = { size: -1, link: firstLink };
	const append = (record: AuditRecord): void => {
		const { size } = fstatSync(descriptor);
		// another process may have written since, or died while it wrote
		if (size !== known.size) {
			const link = endOf(descriptor, size);
			known = { size: fstatSync(descriptor).size, link };
		}
		const line = Buffer.from(JSON.stringify({ ...record, prev: known.link }));
		const written = writeSync(descriptor, Buffer.concat([line, newline]));
		if (written !== line.length + 1) throw new Error("the disk is full");
		known = { size: known.size + written, link: linkOf(line) };
	};
	return {
		append: (record) => attempt(path, () => lock.hold(() => append(record))),
		close: () => {
			try {
				fsyncSync(descriptor);
			} finally {
				closeSync(descriptor);
				lock.close();
			}
		},
	};
}

/**
 * Decides and records in one step: the one path a call takes (rule R112). Where the record cannot be written, an allowed
 * call is denied by rule `audit`. Never throws.
 */
export async function decideOnRecord(input: GateInput, audit: Pick<AuditLog, "append">): Promise<GateDecision> {
	const decision = await decide(input);
	try {
		audit.append(decision.record);
		return decision;
	} catch {
		const record: AuditRecord = { ...decision.record, decision: "deny", rule: "audit", by: "policy" };
		return {
			allowed: false,
			rule: "audit",
			reason: "the decision could not be recorded, so the call does not run",
			record,
		};
	}
}

const newline = Buffer.from("\n");
/** A record holds names and ids only; a line is far shorter. */
const maxLineBytes = 64 * 1024;

/** The link to the last line of the file, which is closed first when a crash cut it short. */
function endOf(descriptor: number, size: number): string {
	if (size === 0) return firstLink;
	const start = Math.max(0, size - maxLineBytes);
	const tail = Buffer.alloc(size - start);
	readSync(descriptor, tail, 0, tail.length, start);
	const isWhole = tail.at(-1) === 0x0a;
	if (!isWhole) writeSync(descriptor, newline);
	const end = isWhole ? tail.length - 1 : tail.length;
	return linkOf(tail.subarray(tail.subarray(0, end).lastIndexOf(0x0a) + 1, end));
}

function attempt<T>(path: string, work: () => T): T {
	try {
		return work();
	} catch (cause) {
		const detail = cause instanceof Error ? cause.message : String(cause);
		throw new HostError("audit.write_failed", { path, detail }, { cause });
	}
}
