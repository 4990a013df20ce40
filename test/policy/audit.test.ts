import {
	appendFileSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
	createAllowances,
	decide,
	decideOnRecord,
	type GateInput,
	openAuditLog,
	resolvePolicy,
} from "../../src/policy/index.js";
import { aTool } from "../tools/builders.js";

let home: string;
let path: string;
beforeEach(() => {
	home = mkdtempSync(join(tmpdir(), "mortise-audit-"));
	path = join(home, "logs", "audit.jsonl");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const input: GateInput = {
	policy: resolvePolicy({ autonomy: "full" }, undefined),
	tool: aTool("act"),
	call: { id: "c", name: "act", arguments: { secret: "canary" } },
	schemaCheck: () => [],
	agent: "a",
	session: "s",
	turn: "t",
	allowances: createAllowances(),
};
const lines = (): { rule: string }[] =>
	readFileSync(path, "utf8")
		.split("\n")
		.filter(Boolean)
		.map((line) => JSON.parse(line));

describe("the audit log", () => {
	it("R112 holds one line for each decision, and no argument", async () => {
		const audit = openAuditLog(path);
		for (let call = 0; call < 5; call += 1) await decideOnRecord(input, audit);
		await decideOnRecord({ ...input, policy: resolvePolicy(undefined, undefined) }, audit);
		audit.close();
		expect(lines().map((record) => record.rule)).toEqual(["full", "full", "full", "full", "full", "no-approver"]);
		expect(readFileSync(path, "utf8")).not.toContain("canary");
	});

	it("is for its owner only and keeps what was there", async () => {
		const { record } = await decide(input);
		for (let open = 0; open < 2; open += 1) {
			const audit = openAuditLog(path);
			audit.append(record);
			audit.close();
		}
		expect(lines()).toHaveLength(2);
		expect(statSync(path).mode & 0o777).toBe(0o600);
	});

	it("starts a new line after one that a crash cut short", async () => {
		mkdirSync(join(home, "logs"));
		writeFileSync(path, '{"rule":"full"}\n{"ru');
		const audit = openAuditLog(path);
		audit.append((await decide(input)).record);
		audit.close();
		expect(
			readFileSync(path, "utf8")
				.split("\n")
				.map((line) => line.slice(0, 5)),
		).toEqual(['{"rul', '{"ru', '{"at"', ""]);
		appendFileSync(path, "");
	});

	it("refuses a link in its place", () => {
		mkdirSync(join(home, "logs"));
		writeFileSync(join(home, "elsewhere"), "");
		symlinkSync(join(home, "elsewhere"), path);
		expect(() => openAuditLog(path)).toThrow(expect.objectContaining({ code: "audit.write_failed" }));
		expect(readFileSync(join(home, "elsewhere"), "utf8")).toBe("");
	});

	it("R112 allows no call whose record cannot be written", async () => {
		const audit = {
			append: () => {
				throw new Error("full");
			},
		};
		expect(await decideOnRecord(input, audit)).toMatchObject({
			allowed: false,
			rule: "audit",
			record: { decision: "deny" },
		});
		const closed = openAuditLog(path);
		closed.close();
		expect(await decideOnRecord(input, closed)).toMatchObject({ allowed: false, rule: "audit" });
	});
});
