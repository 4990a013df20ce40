import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { HostValue } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/broker/index.js";
import { createPlaceholders } from "../../src/broker/placeholders.js";
import { aBroker, aPlugin, aServer, codeOf, fakeNetwork, type TestBroker, unwrap } from "./builders.js";
import { encodings } from "./encodings.js";

const canary = "sk-Canary/4f9+2b&c=~q\\x";
const env = { KEY: canary, OTHER: "another-secret-77" };
type Value = HostValue<"http">;

/** A plugin that may send KEY in `x-key` and in `authorization` to a host. */
const keyHolder = (host: string, more: { id?: string; use?: string; grant?: string[] } = {}) =>
	aPlugin({
		...(more.id === undefined ? {} : { id: more.id }),
		asks: {
			http: { hosts: ["*"] },
			secrets: [
				{ name: "KEY", use: `header Authorization on ${more.use ?? host}` },
				{ name: "KEY", use: `header x-key on ${more.use ?? host}` },
			],
		},
		grant: { http: more.grant ?? [host], secrets: ["KEY"] },
	});

async function placeholder({ ask }: TestBroker, more: Parameters<TestBroker["ask"]>[2] = {}): Promise<string> {
	return unwrap<{ placeholder: string }>(await ask("secret", { name: "KEY" }, more)).placeholder;
}

describe("host.secret", () => {
	it("gives a placeholder that says nothing, the same within a job and another elsewhere", async () => {
		const broker = aBroker({ plugin: keyHolder("127.0.0.1:1"), env });
		const first = await placeholder(broker);
		expect(first).toMatch(/^mortise-secret-[0-9a-f]{32}$/);
		expect(await placeholder(broker)).toBe(first);
		expect(await placeholder(broker, { job: "job-2" })).not.toBe(first);
		expect(await placeholder(broker, { plugin: keyHolder("127.0.0.1:1", { id: "acme.other" }) })).not.toBe(first);
	});

	it("refuses a secret that is not granted, not asked for or not set, each by its own words", async () => {
		const asks = { secrets: [{ name: "KEY", use: "header x on a.test" }] };
		const { ask } = aBroker({ plugin: aPlugin({ asks }) });
		expect(await ask("secret", { name: "KEY" })).toMatchObject({
			failure: { code: "unauthorized" },
			permission: "secret:KEY",
		});
		const other = await ask("secret", { name: "PATH" });
		expect(other).toMatchObject({ ok: false, failure: { code: "unauthorized" } });
		expect(other).not.toHaveProperty("permission");
		const plugin = aPlugin({ asks, grant: { secrets: ["KEY"] } });
		expect(codeOf(await ask("secret", { name: "KEY" }, { plugin }))).toBe("not_found");
	});
});

describe("placeholders", () => {
	it("are forgotten with their job, and those of other jobs are not", () => {
		const placeholders = createPlaceholders();
		const owner = (job: string) => ({ job, bundle: "acme.plugin", name: "KEY" });
		const [first, second] = [placeholders.issue(owner("job-1")), placeholders.issue(owner("job-2"))];
		placeholders.endJob("job-1");
		expect(placeholders.ownerOf(first)).toBeUndefined();
		expect(placeholders.heldBy("job-1", "acme.plugin")).toEqual([]);
		expect(placeholders.ownerOf(second)).toEqual(owner("job-2"));
	});
});

describe("a secret at egress", () => {
	it("is put into its declared header, in any case and inside a longer value, on its declared host", async () => {
		const server = await aServer();
		const broker = aBroker({ plugin: keyHolder(server.host), env });
		const held = await placeholder(broker);
		const headers = [
			["AUTHORIZATION", `Bearer ${held}`],
			["X-Key", held],
		];
		unwrap(await broker.ask("http", { method: "GET", url: server.url, headers }));
		expect(server.seen[0]?.headers).toMatchObject({ authorization: `Bearer ${canary}`, "x-key": canary });
	});

	it("is refused, and nothing is sent, when its placeholder stands anywhere else", async () => {
		const server = await aServer();
		const broker = aBroker({ plugin: keyHolder(server.host), env });
		const held = await placeholder(broker);
		const base64 = Buffer.from(`user:${held}`).toString("base64");
		const percent = [...Buffer.from(held)].map((byte) => `%${byte.toString(16)}`).join("");
		for (const args of [
			{ url: `${server.url}/?key=${held}` },
			{ url: `${server.url}/${held.toUpperCase()}` },
			{ url: `${server.url}/${percent}` },
			{ url: `${server.url}/?key=mortise%2Dsecret%2D${"0".repeat(32)}` },
			{ method: "POST", body: { text: `{"key":"${held}"}` } },
			{ method: "POST", body: { base64: Buffer.from(`\xff${held}`, "latin1").toString("base64") } },
			{ method: "POST", body: { text: base64 } },
			{ headers: [["x-other", held]] },
			{ headers: [[held, "x"]] },
			{ headers: [["authorization", `Basic ${base64}`]] },
			{ headers: [["x-key", `mortise-secret-${"0".repeat(32)}`]] },
			{ headers: [["x-key", held.toUpperCase()]] },
		])
			expect(codeOf(await broker.ask("http", { method: "GET", url: server.url, ...args }))).toBe("unauthorized");
		expect(server.seen).toEqual([]);
	});

	it("is refused for another granted host, another port, another plugin, another job and an ended one", async () => {
		const server = await aServer();
		const other = await aServer();
		const plugin = keyHolder(server.host, { grant: [server.host, other.host] });
		const broker = aBroker({ plugin, env });
		const held = await placeholder(broker);
		const headers = [["x-key", held]];
		const get = { method: "GET", url: server.url, headers };
		expect(codeOf(await broker.ask("http", { ...get, url: other.url }))).toBe("unauthorized");
		const thief = keyHolder(server.host, { id: "acme.thief" });
		expect(codeOf(await broker.ask("http", get, { plugin: thief }))).toBe("unauthorized");
		expect(codeOf(await broker.ask("http", get, { job: "job-2" }))).toBe("unauthorized");
		expect(codeOf(await broker.ask("http", get))).toBe("ok");
		broker.broker.endJob("job-1");
		expect(codeOf(await broker.ask("http", get, { job: "job-3" }))).toBe("unauthorized");
		expect(server.seen.length).toBe(1);
		expect(other.seen).toEqual([]);
	});

	it("with a use on '*' goes to hosts granted by name only", async () => {
		const server = await aServer(undefined, { tls: true });
		const send = async (grant: string[]) => {
			const plugin = keyHolder("", { use: "*", grant });
			const broker = aBroker({ ...fakeNetwork({ "api.acme.test": {} }), plugin, env });
			const headers = [["x-key", await placeholder(broker)]];
			return codeOf(await broker.ask("http", { method: "GET", url: `https://api.acme.test:${server.port}/`, headers }));
		};
		expect(await send([`*:${server.port}`])).toBe("unauthorized");
		expect(await send([`*.acme.test:${server.port}`])).toBe("ok");
		expect(await send([`api.acme.test:${server.port}`])).toBe("ok");
		expect(server.seen.map((seen) => seen.headers["x-key"])).toEqual([canary, canary]);
	});

	it("does not travel in clear to a public host", async () => {
		const server = await aServer();
		const host = `api.acme.test:${server.port}`;
		const broker = aBroker({ ...fakeNetwork({ "api.acme.test": {} }), plugin: keyHolder(host), env });
		const headers = [["x-key", await placeholder(broker)]];
		expect(codeOf(await broker.ask("http", { method: "GET", url: `http://${host}/`, headers }))).toBe("unauthorized");
		expect(codeOf(await broker.ask("http", { method: "GET", url: `http://${host}/` }))).toBe("ok");
	});

	it("is dropped on a redirect to another origin, whatever its header is called", async () => {
		const far = await aServer();
		const near = await aServer((_request, response) => void response.writeHead(307, { location: far.url }).end());
		const plugin = keyHolder("", { use: "*", grant: [near.host, far.host] });
		const broker = aBroker({
			plugin: {
				...plugin,
				permissions: {
					...plugin.permissions,
					secrets: [near, far].map(({ host }) => ({ name: "KEY", header: "x-key", host })),
				},
			},
			env,
		});
		const headers = [["x-key", await placeholder(broker)]];
		unwrap(await broker.ask("http", { method: "GET", url: near.url, headers }));
		expect(near.seen[0]?.headers["x-key"]).toBe(canary);
		expect(far.seen[0]?.headers["x-key"]).toBeUndefined();
	});

	it("is not carried on by a redirect that a server writes it into", async () => {
		const far = await aServer();
		const near = await aServer((request, response) => {
			response
				.writeHead(302, { location: `${far.url}/?k=${encodeURIComponent(String(request.headers["x-key"]))}` })
				.end();
		});
		const broker = aBroker({ plugin: keyHolder(near.host, { grant: [near.host, far.host] }), env });
		const headers = [["x-key", await placeholder(broker)]];
		expect(codeOf(await broker.ask("http", { method: "GET", url: near.url, headers }))).toBe("unauthorized");
		expect(far.seen).toEqual([]);
	});

	it("is refused when its value is too short to be kept back, without showing it", async () => {
		const server = await aServer();
		const broker = aBroker({ plugin: keyHolder(server.host), env: { KEY: "pin-77" } });
		const headers = [["x-key", await placeholder(broker)]];
		const result = await broker.ask("http", { method: "GET", url: server.url, headers });
		expect(codeOf(result)).toBe("unavailable");
		expect(JSON.stringify(result)).not.toContain("pin-77");
		expect(server.seen).toEqual([]);
	});
});

describe("a canary secret", () => {
	const hunter = createRedactor([canary]);

	it("is in nothing a plugin reads when a server echoes it in any encoding, in body or header, compressed or not", async () => {
		const server = await aServer((request, response) => {
			const url = new URL(request.url ?? "/", "http://echo");
			const encode = encodings[url.searchParams.get("as") ?? ""];
			const value = String(request.headers["x-key"]);
			const body = Buffer.from(encode?.(value, url.searchParams.get("before") ?? "") as string);
			if (url.pathname === "/gzip") response.setHeader("content-encoding", "gzip");
			if (/^[ -~]*$/.test(body.toString("latin1"))) response.setHeader("x-echo", body.toString("latin1"));
			response.end(url.pathname === "/gzip" ? gzipSync(body) : body);
		});
		const broker = aBroker({ plugin: keyHolder(server.host), env });
		const headers = [["x-key", await placeholder(broker)]];
		for (const as of Object.keys(encodings))
			for (const path of ["plain", "gzip"]) {
				const job = `job-${as}-${path}`;
				const own = [["x-key", await placeholder(broker, { job })]];
				for (const before of ["", "a", "ab"]) {
					const url = `${server.url}/${path}?as=${encodeURIComponent(as)}&before=${before}`;
					const value = unwrap<Value>(await broker.ask("http", { method: "GET", url, headers: own }, { job }));
					const bytes = "text" in value.body ? Buffer.from(value.body.text) : Buffer.from(value.body.base64, "base64");
					expect(hunter.finds(bytes), `${as} ${path}`).toBe(false);
					expect(bytes.includes("[redacted]"), `${as} ${path}`).toBe(true);
					expect(hunter.finds(JSON.stringify(value)), as).toBe(false);
				}
			}
		expect(headers.length).toBe(1);
		expect(server.seen.every((seen) => seen.headers["x-key"] === canary)).toBe(true);
	});

	it("is redacted for a plugin that never had it, in logs, log files and failures too", async () => {
		const server = await aServer((_request, response) => void response.end(`it is ${canary}`));
		const broker = aBroker({
			plugin: aPlugin({ asks: { http: { hosts: ["*"] } }, grant: { http: [server.host] } }),
			env,
		});
		expect(broker.secrets.has("KEY")).toBe(true);
		const results = [
			await broker.ask("http", { method: "GET", url: server.url }),
			await broker.ask("http", { method: "GET", url: `https://${Buffer.from(canary).toString("hex")}.test/` }),
			await broker.ask("log", {
				level: "error",
				message: `x${canary}`,
				fields: { a: [canary], [canary]: Buffer.from(canary).toString("base64") },
			}),
		];
		await broker.broker.close();
		const file = readFileSync(join(broker.folder, "logs", "acme.plugin.log"), "utf8");
		expect(file).toContain("[redacted]");
		for (const text of [JSON.stringify(results), broker.lines.join(""), file]) expect(hunter.finds(text)).toBe(false);
	});
});
