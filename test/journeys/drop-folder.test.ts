import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { brokenCodes, writeCorpus } from "../fixtures/bundle/corpus.js";
import { aBundle, aHome, mortise, writeFiles } from "./workshop.js";

type Row = {
	readonly id: string | null;
	readonly state: string;
	readonly path?: string;
	readonly problems: readonly { readonly code: string; readonly message: string; readonly fix?: string }[];
};

/** A home whose drop folder holds thirty bundles and what lies about in such folders. */
async function aFullHome(): Promise<{ readonly home: string; readonly good: readonly string[] }> {
	const home = await aHome();
	const drop = join(home, "bundles");
	const good = await writeCorpus(drop);
	await writeFile(join(drop, ".DS_Store"), "x");
	await writeFile(join(drop, "notes.txt"), "x");
	await mkdir(join(drop, "node_modules", "left"), { recursive: true });
	// half written: its manifest has not come yet
	await writeFiles(join(drop, "half-written"), { "plugin.js": aBundle("acme.half")["plugin.js"] ?? "" });
	return { home, good };
}

describe("a drop folder with thirty bundles, ten of them broken", () => {
	it("loads every good one, and refuses each other with a code of its own and what to do", async () => {
		const { home, good } = await aFullHome();
		const listed = await mortise(["plugin", "list", "--json"], { home });
		expect(listed.status, listed.stderr).toBe(0);
		const rows: Row[] = listed.json();
		const loaded = rows.filter((row) => row.state === "loaded").map((row) => row.id);
		expect(loaded).toEqual(expect.arrayContaining([...good]));
		const refused = rows.filter((row) => row.state === "refused");
		const codes = Object.fromEntries(
			refused.map((row) => [row.path?.split("/").at(-1), row.problems.map((problem) => problem.code)]),
		);
		expect(codes).toEqual(Object.fromEntries(Object.entries(brokenCodes).map(([name, code]) => [name, [code]])));
		expect(new Set(Object.values(brokenCodes)).size).toBe(10);
		for (const row of refused) for (const problem of row.problems) expect(problem.message).not.toBe("");

		const text = await mortise(["plugin", "list"], { home });
		expect(text.status).toBe(0);
		for (const code of Object.values(brokenCodes)) expect(text.stderr).toContain(`[${code}]`);
		for (const stray of ["notes.txt", "half-written"]) expect(text.stderr).toMatch(new RegExp(`note: .*${stray}`));
		expect(text.stderr).not.toMatch(/\n\s+at /);
	});

	it("does not hold the main thread for 50 ms while it loads them", async () => {
		const { home } = await aFullHome();
		const script = fileURLToPath(new URL("load-with-lag.mjs", import.meta.url));
		const measure = async () => {
			const { stdout } = await promisify(execFile)(
				process.execPath,
				["--disable-warning=ExperimentalWarning", script, home],
				{
					env: { PATH: process.env.PATH },
				},
			);
			return JSON.parse(stdout) as { loaded: number; refused: number; heldMs: number };
		};
		let best = await measure();
		expect(best).toMatchObject({ loaded: 25, refused: 11 });
		// a neighbour on the machine holds a thread as well: the best of a few counts
		for (let round = 1; round < 5 && best.heldMs >= 50; round += 1) {
			const next = await measure();
			if (next.heldMs < best.heldMs) best = next;
		}
		expect(best.heldMs).toBeLessThan(50);
	});
});
