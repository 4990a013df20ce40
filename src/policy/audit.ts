import { closeSync, constants, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import type { AuditRecord } from "../contract/index.js";
import { HostError } from "../errors.js";
import { decide, type GateDecision, type GateInput } from "./gate.js";

/** The audit log: JSON lines, appended and never rewritten. */
export type AuditLog = {
	/** Writes one record before it returns. Throws `audit.write_failed`. */
	readonly append: (record: AuditRecord) => void;
	readonly close: () => void;
};

/**
 * Opens the audit log (`<home>/logs/audit.jsonl`), making its folder; the file is for its owner only and a link in its
 * place is refused. A line that a crash cut short is closed, so that the next record stands on its own.
 *
 * @throws HostError `audit.write_failed`
 */
export function openAuditLog(path: string): AuditLog {
	const descriptor = attempt(path, () => {
		mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
		const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
		const opened = openSync(path, flags, 0o600);
		try {
			closeTornLine(opened);
			return opened;
		} catch (error) {
			closeSync(opened);
			throw error;
		}
	});
	return {
		append: (record) =>
			attempt(path, () => {
				const line = Buffer.from(`${JSON.stringify(record)}\n`);
				const written = writeSync(descriptor, line);
				if (written !== line.length) throw new Error("the disk is full");
			}),
		close: () => {
			try {
				fsyncSync(descriptor);
			} finally {
				closeSync(descriptor);
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

function closeTornLine(descriptor: number): void {
	const stat = fstatSync(descriptor);
	if (!stat.isFile()) throw new Error("it is not a plain file");
	if (stat.size === 0) return;
	const last = Buffer.alloc(1);
	readSync(descriptor, last, 0, 1, stat.size - 1);
	if (last[0] !== 0x0a) writeSync(descriptor, "\n");
}

function attempt<T>(path: string, work: () => T): T {
	try {
		return work();
	} catch (cause) {
		const detail = cause instanceof Error ? cause.message : String(cause);
		throw new HostError("audit.write_failed", { path, detail }, { cause });
	}
}
