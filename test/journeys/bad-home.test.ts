import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aFolder, aHome, mortise, type Ran } from "./workshop.js";

type Report = {
	readonly code: string;
	readonly owner: string;
	readonly message: string;
	readonly next?: string;
	readonly problems?: readonly { readonly line: number; readonly column: number; readonly pointer: string }[];
};

/** The error of a run that must fail as a person can understand: one value, an owner, a next step, no stack trace. */
function errorOf(ran: Ran, status: number): Report {
	expect(ran.status, ran.stdout + ran.stderr).toBe(status);
	expect(ran.stdout + ran.stderr).not.toMatch(/\n\s+at /);
	const { error } = ran.json() as { error: Report };
	expect(error.owner).toMatch(/^(operator|author|plugin|host)$/);
	expect(error.next ?? "").not.toBe("");
	return error;
}

describe("a home folder that is damaged", () => {
	it.each([
		["grants.json", "{", "grants.invalid"],
		["grants.json", '{"version":1,"bundles":{"a":{"granted":["sudo"],"revoked":[]}}}', "grants.invalid"],
		["receipts.json", "{]", "receipts.invalid"],
		["receipts.json", '{"v":1,"bundles":{"a":{"enabled":"yes","signer":null}}}', "receipts.invalid"],
		["secrets.json", "not json at all", "secrets.invalid"],
		["state.db", "this is no database, and never was one; it only has the name", "home.database_unusable"],
	])("is refused for a broken %s (%s), which stays as it was", async (file, content, code) => {
		const home = await aHome();
		await writeFile(join(home, file), content, { mode: 0o600 });
		const verb = file === "secrets.json" ? ["secret", "list"] : ["plugin", "list"];
		const ran = await mortise([...verb, "--json"], { home });
		const { error } = ran.json() as { error: Report };
		expect(error.code).toBe(code);
		errorOf(ran, error.owner === "host" ? 3 : 1);
		expect(`${error.message} ${error.next}`).toContain(file);
		expect(await readFile(join(home, file), "utf8")).toBe(content);
		expect(ran.stdout).not.toContain(file === "secrets.json" ? content : "\u0000");
	});

	it("is refused when it is a file, and when it lies below one", async () => {
		const folder = await aFolder();
		const file = join(folder, "file");
		await writeFile(file, "x");
		for (const home of [file, join(file, "below")])
			errorOf(await mortise(["plugin", "list", "--json"], { home, cwd: folder }), 1);
		expect(await readFile(file, "utf8")).toBe("x");
	});

	it("loads nothing from a drop folder that others may write to, and says how to mend it", async () => {
		const home = await aHome();
		await mkdir(join(home, "bundles"), { recursive: true });
		await chmod(join(home, "bundles"), 0o777);
		const ran = await mortise(["plugin", "list", "--json"], { home });
		expect(ran.status).toBe(0);
		const problems = ran.json().flatMap((row: { problems: { code: string; fix?: string }[] }) => row.problems);
		expect(problems).toEqual([
			expect.objectContaining({ code: "bundle.drop_folder_unsafe", fix: expect.stringContaining("chmod") }),
		]);
	});
});

describe("a configuration that is broken", () => {
	it("is refused with every problem at its place, and nothing is made", async () => {
		const folder = await aFolder();
		const file = join(folder, "mortise.yaml");
		await writeFile(
			file,
			`runtime: { name: "", protocol_versions: [1] }
agents:
  helper:
    policy: { autonomy: total }
    isolation: strong
polcy: {}
pool: { threads: 0 }
`,
		);
		const home = join(folder, "home");
		const ran = await mortise(["plugin", "list", "--json", "--config", file], { home, cwd: folder });
		const { code, problems = [] } = errorOf(ran, 1);
		expect(code).toBe("config.invalid");
		expect(problems.map(({ pointer }) => pointer).sort()).toEqual([
			"/agents/helper/isolation",
			"/agents/helper/policy/autonomy",
			"/polcy",
			"/pool/threads",
			"/runtime/name",
			"/runtime/protocol_versions/0",
		]);
		for (const { line, column } of problems) expect([line > 0, column > 0]).toEqual([true, true]);
		await expect(readFile(join(home, "state.db"))).rejects.toMatchObject({ code: "ENOENT" });
	});

	it.each([
		["that is not there", "missing.yaml"],
		["that is a folder", "."],
		["that never ends", "/dev/zero"],
	])("%s is the operator's mistake", async (_what, file) => {
		const folder = await aFolder();
		const ran = await mortise(["doc", "--json", "--config", file], { home: join(folder, "home"), cwd: folder });
		expect(errorOf(ran, 1).owner).toBe("operator");
	});
});
