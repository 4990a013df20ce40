import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aFolder, aHome, anEsmBundle, answerText, mortise } from "./workshop.js";

describe("plugin logs", () => {
	it("shows the last lines of a plugin, oldest first, as text and as data", async () => {
		const home = await aHome({
			talks: anEsmBundle("acme.talks", {
				code: `for (let i = 0; i < 5; i++) await host.log({ level: "info", message: "line " + i, fields: { i } });
					${answerText('"said"')}`,
			}),
		});
		expect((await mortise(["call", "acme_talks", "{}", "--yes"], { home })).status).toBe(0);
		const data = await mortise(["plugin", "logs", "acme.talks", "--lines", "2", "--json"], { home });
		expect(data.json()).toMatchObject({
			id: "acme.talks",
			lines: [
				{ level: "info", message: "line 3", fields: { i: 3 } },
				{ level: "info", message: "line 4", fields: { i: 4 } },
			],
		});
		const text = await mortise(["plugin", "logs", "acme.talks"], { home });
		expect(
			text.stdout
				.trim()
				.split("\n")
				.map((line) => JSON.parse(line).message),
		).toEqual([0, 1, 2, 3, 4].map((i) => `line ${i}`));
	});

	it("says that nothing was logged where nothing was", async () => {
		const ran = await mortise(["plugin", "logs", "text-kit"], { home: await aHome() });
		expect([ran.status, ran.stdout, ran.stderr]).toEqual([0, "", "text-kit has logged nothing\n"]);
	});

	it.each(["../../etc/passwd", "A", "a/b"])("takes no other file for a log: %s", async (id) => {
		expect((await mortise(["plugin", "logs", id, "--json"], { home: await aHome() })).status).toBe(2);
	});

	it("follows no link in the place of a log", async () => {
		const home = await aHome();
		const secret = join(await aFolder(), "secret");
		await writeFile(secret, "canary");
		expect((await mortise(["plugin", "list"], { home })).status).toBe(0);
		await symlink(secret, join(home, "logs", "acme.links.log"));
		const ran = await mortise(["plugin", "logs", "acme.links", "--json"], { home });
		expect(ran.json().error).toMatchObject({ code: "file.unreadable" });
		expect(ran.stdout).not.toContain("canary");
	});

	it.each(["0", "-1", "many"])("refuses --lines %s as a usage error", async (lines) => {
		expect((await mortise(["plugin", "logs", "text-kit", "--lines", lines], { home: await aHome() })).status).toBe(2);
	});
});
