import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { aFolder, aHome, anEsmBundle, answerText, aServer, type Files, mortise, writeFiles } from "./workshop.js";

const canary = "the-Value-0f-the-key";

/** A bundle that uses whatever it is told to, and asks for all of it. */
const uses = (url: string, code = ""): Files =>
	anEsmBundle("acme.uses", {
		code: `const { what } = input.arguments;
			${code}
			if (what === "kv") { await host.kv({ op: "set", key: "k", value: "kept" }); const { value } = await host.kv({ op: "get", key: "k" }); ${answerText("value")} }
			if (what === "read") { const { value } = await host.kv({ op: "get", key: "k" }); ${answerText("value ?? 'nothing'")} }
			if (what === "http") { const got = await host.http({ method: "GET", url: ${JSON.stringify(url)} }); ${answerText("got.body.text")} }
			const { placeholder } = await host.secret({ name: "ACME_KEY" });
			const got = await host.http({ method: "GET", url: ${JSON.stringify(url)}, headers: [["authorization", placeholder]] });
			${answerText("String(got.status)")}`,
		more: {
			permissions: {
				http: { hosts: ["*"] },
				secrets: [{ name: "ACME_KEY", use: `header authorization on ${new URL(url).host}` }],
				kv: true,
			},
		},
	});

const call = (home: string, what: string) =>
	mortise(["call", "acme_uses", JSON.stringify({ what }), "--yes", "--json"], { home });

/** The words of a printed command, as a shell takes them. */
function wordsOf(command: string): string[] {
	return [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
}

describe("a bundle dropped in without grants", () => {
	it("is loaded, is refused each ungranted call with the exact command, and works after that command", async () => {
		const server = await aServer((request, response) => {
			response.end(request.headers.authorization === canary ? "with the key" : "without a key");
		});
		const home = await aHome({ uses: uses(server.url) });
		await mortise(["secret", "set", "ACME_KEY"], { home, input: canary });
		const [listed] = (await mortise(["plugin", "list", "--json"], { home }))
			.json()
			.filter((each: { id: string }) => each.id === "acme.uses");
		expect(listed).toMatchObject({ state: "loaded", problems: [] });

		for (const [what, answer] of [
			["kv", "kept"],
			["http", "without a key"],
			["secret", "200"],
		] as const) {
			for (let round = 0; ; round += 1) {
				const ran = await call(home, what);
				if (ran.status === 0) {
					expect(round).toBeGreaterThan(0);
					expect(ran.json()).toMatchObject({ ok: true, content: [{ type: "text", text: answer }] });
					break;
				}
				expect(round, `${what} is still refused: ${ran.stdout}`).toBeLessThan(3);
				expect(ran.status).toBe(1);
				const next: string = ran.json().failure.next;
				const [, command = ""] = /Run: (mortise grant acme\.uses [^;]+)/.exec(next) ?? [];
				expect(command, next).not.toBe("");
				const granted = await mortise(wordsOf(command).slice(1), { home });
				expect(granted.status, granted.stderr).toBe(0);
			}
		}
		expect(server.requests.some((request) => request.headers.authorization === canary)).toBe(true);
	});

	it("keeps every grant, secret and switch that several processes give at once", async () => {
		const home = await aHome({ uses: uses("http://127.0.0.1:9") });
		const words = Array.from({ length: 6 }, (_, index) => `http:h${index}.acme.test`);
		const ran = await Promise.all([
			...words.map((word) => mortise(["grant", "acme.uses", word], { home })),
			...words.map((_, index) => mortise(["secret", "set", `KEY_${index}`], { home, input: `value-number-${index}` })),
			...["kv-notes", "text-kit", "http-fetch"].map((id) => mortise(["plugin", "disable", id], { home })),
		]);
		expect(ran.map(({ status, stderr }) => [status, stderr])).toEqual(ran.map(() => [0, ""]));
		const grants = JSON.parse(await readFile(join(home, "grants.json"), "utf8"));
		expect(grants.bundles["acme.uses"].granted).toEqual(words);
		const secrets = JSON.parse(await readFile(join(home, "secrets.json"), "utf8"));
		expect(Object.keys(secrets.secrets).sort()).toEqual(words.map((_, index) => `KEY_${index}`));
		const receipts = JSON.parse(await readFile(join(home, "receipts.json"), "utf8"));
		expect(Object.keys(receipts.bundles).sort()).toEqual(["http-fetch", "kv-notes", "text-kit"]);
	});

	it("loses what is revoked", async () => {
		const server = await aServer((_request, response) => void response.end());
		const home = await aHome({ uses: uses(server.url) });
		await mortise(["grant", "acme.uses", "kv"], { home });
		expect((await call(home, "kv")).status).toBe(0);
		await mortise(["revoke", "acme.uses", "kv"], { home });
		const refused = await call(home, "kv");
		expect(refused.status).toBe(1);
		expect(refused.json().failure.next).toContain("mortise grant acme.uses kv");
	});
});

describe("a bundle with the id of one that comes with Mortise", () => {
	it("is not installed: the two would keep each other from loading", async () => {
		const home = await aHome();
		const source = await writeFiles(await aFolder(), anEsmBundle("text-kit", { code: answerText("1") }));
		const ran = await mortise(["plugin", "install", source, "--json"], { home });
		expect(ran.status).toBe(1);
		expect(ran.json().error).toMatchObject({ code: "plugin.first_party_id", owner: "operator" });
		const planned = await mortise(["plan", source, "--json"], { home });
		expect(planned.status).toBe(1);
		expect(planned.json().error).toMatchObject({ code: "plugin.first_party_id" });
		const rows = (await mortise(["plugin", "list", "--json"], { home })).json();
		expect(rows.find((row: { id: string }) => row.id === "text-kit")).toMatchObject({ state: "loaded" });
	});
});

describe("other content under the id of a bundle that had grants", () => {
	it("has none of them when it was put there by hand, until it is granted its own", async () => {
		const server = await aServer((_request, response) => void response.end("there"));
		const home = await aHome({ uses: uses(server.url) });
		await mortise(["grant", "acme.uses", "kv"], { home });
		await mortise(["grant", "acme.uses", `http:${new URL(server.url).host}`], { home });
		expect((await call(home, "http")).status).toBe(0);

		await rm(join(home, "bundles", "uses"), { recursive: true });
		await writeFiles(join(home, "bundles", "uses"), uses(server.url, "// not what it was"));
		expect((await call(home, "kv")).status).toBe(1);
		expect((await call(home, "http")).status).toBe(1);
		await mortise(["grant", "acme.uses", "kv"], { home });
		expect((await call(home, "kv")).status).toBe(0);
		// the one was granted again, not the other with it
		expect((await call(home, "http")).status).toBe(1);
	});

	it("keeps them when the operator installs it over the old, and gets none it did not have", async () => {
		const server = await aServer((_request, response) => void response.end("there"));
		const home = await aHome();
		const source = await aFolder();
		await writeFiles(source, uses(server.url));
		await mortise(["plugin", "install", source], { home });
		await mortise(["grant", "acme.uses", "kv"], { home });
		await writeFiles(source, uses(server.url, "// the next version"));
		const replaced = await mortise(["plugin", "install", source, "--force", "--json"], { home });
		expect(replaced.json()).toMatchObject({ outcome: "replaced" });
		expect((await call(home, "kv")).status).toBe(0);
		expect((await call(home, "http")).status).toBe(1);
	});

	it("finds neither grants nor data nor a log once the old was removed", async () => {
		const server = await aServer((_request, response) => void response.end());
		const home = await aHome();
		const source = await writeFiles(
			await aFolder(),
			uses(server.url, 'await host.log({ level: "info", message: "hi" });'),
		);
		await mortise(["plugin", "install", source], { home });
		await mortise(["grant", "acme.uses", "kv"], { home });
		expect((await call(home, "kv")).status).toBe(0);
		await expect(readFile(join(home, "logs", "acme.uses.log"), "utf8")).resolves.toContain("hi");

		const removed = await mortise(["plugin", "remove", "acme.uses"], { home });
		expect(removed.stdout).toContain("its grants, its key-value data and its log");
		await expect(readFile(join(home, "logs", "acme.uses.log"))).rejects.toMatchObject({ code: "ENOENT" });
		await mortise(["plugin", "install", source], { home });
		expect((await call(home, "read")).status).toBe(1);
		await mortise(["grant", "acme.uses", "kv"], { home });
		expect((await call(home, "read")).json()).toMatchObject({ content: [{ text: "nothing" }] });
	});
});
