import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AuditRecord } from "../../src/contract/index.js";
import { openAuditLog, verifyAuditLog } from "../../src/policy/index.js";

let folder: string;
let path: string;
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "mortise-chain-"));
	path = join(folder, "audit.jsonl");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const record = (call: string): AuditRecord => ({
	at: "2026-01-01T00:00:00.000Z",
	agent: "a",
	session: "s",
	turn: "t",
	call,
	tool: "act",
	origin: "native",
	decision: "allow",
	rule: "full",
	by: "policy",
});
function write(...calls: readonly string[]): void {
	const audit = openAuditLog(path);
	for (const call of calls) audit.append(record(call));
	audit.close();
}
const lines = (): string[] => readFileSync(path, "utf8").split("\n").slice(0, -1);

describe("the chain of the audit log", () => {
	it("holds over several openings, and over two that are open at once", async () => {
		write("1", "2");
		const [left, right] = [openAuditLog(path), openAuditLog(path)];
		for (const [log, call] of [
			[left, "3"],
			[right, "4"],
			[right, "5"],
			[left, "6"],
		] as const)
			log.append(record(call));
		left.close();
		right.close();
		expect(lines().map((line) => JSON.parse(line).call)).toEqual(["1", "2", "3", "4", "5", "6"]);
		expect(await verifyAuditLog(path)).toMatchObject({ ok: true, records: 6, cut: 0 });
	});

	it("goes on after a line that a crash cut short, and says so", async () => {
		write("1");
		appendFileSync(path, '{"at":"2026');
		write("2", "3");
		expect(await verifyAuditLog(path)).toMatchObject({ ok: true, records: 3, cut: 1 });
	});

	it("breaks where any line but the last is changed, taken out, put in or moved", async () => {
		const calls = ["1", "2", "3", "4", "5", "6"];
		write(...calls);
		const whole = lines();
		await fc.assert(
			fc.asyncProperty(
				fc.integer({ min: 0, max: calls.length - 2 }),
				fc.constantFrom("change", "take", "put", "move"),
				async (at, how) => {
					const forged = [...whole];
					if (how === "change") forged[at] = (whole[at] ?? "").replace('"allow"', '"deny"');
					if (how === "take") forged.splice(at, 1);
					if (how === "put") forged.splice(at, 0, whole[at] ?? "");
					if (how === "move") forged.splice(at, 2, whole[at + 1] ?? "", whole[at] ?? "");
					writeFileSync(path, `${forged.join("\n")}\n`);
					const check = await verifyAuditLog(path);
					expect(check.ok).toBe(false);
					expect(check.brokenAt).toBeLessThanOrEqual(at + 2);
				},
			),
			{ numRuns: 60 },
		);
	});

	it("breaks at a record without a link, also at the end", async () => {
		write("1");
		appendFileSync(path, `${JSON.stringify(record("2"))}\n`);
		expect(await verifyAuditLog(path)).toMatchObject({ ok: false, brokenAt: 2 });
	});

	it("shows by its head that lines were taken off the end", async () => {
		write("1", "2", "3");
		const before = await verifyAuditLog(path);
		writeFileSync(path, `${lines().slice(0, 2).join("\n")}\n`);
		const after = await verifyAuditLog(path);
		expect(after).toMatchObject({ ok: true, records: 2 });
		expect(after.head).not.toBe(before.head);
	});

	it("has no records where there is no log", async () => {
		expect(await verifyAuditLog(path)).toMatchObject({ ok: true, records: 0, cut: 0 });
	});
});
