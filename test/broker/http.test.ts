import { brotliCompressSync, gzipSync } from "node:zlib";
import type { HostValue } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import { callCaps, httpCaps } from "../../src/broker/index.js";
import { aBroker, aPlugin, aServer, codeOf, fakeNetwork, unwrap } from "./builders.js";

type Value = HostValue<"http">;
const bodyOf = (value: Value): string => ("text" in value.body ? value.body.text : `base64:${value.body.base64}`);

/** A plugin that asks for any host and is granted these. */
const granted = (...http: string[]) => aPlugin({ asks: { http: { hosts: ["*"] } }, grant: { http } });

describe("host.http", () => {
	it("gives status, headers and body of a granted host, whatever the status", async () => {
		const server = await aServer((_request, response) => {
			response.writeHead(429, { "retry-after": "7", "x-two": ["a", "b"] }).end("slow down");
		});
		const { ask } = aBroker({ plugin: granted(server.host) });
		const value = unwrap<Value>(
			await ask("http", {
				method: "POST",
				url: `${server.url}/a?b=c#d`,
				headers: [["X-Mine", "yes"]],
				body: { text: "hi é" },
			}),
		);
		expect(value.status).toBe(429);
		expect(value.headers).toEqual(
			expect.arrayContaining([
				["retry-after", "7"],
				["x-two", "a"],
				["x-two", "b"],
			]),
		);
		expect(bodyOf(value)).toBe("slow down");
		expect(server.seen[0]).toMatchObject({ method: "POST", url: "/a?b=c", body: "hi é" });
		expect(server.seen[0]?.headers).toMatchObject({
			"x-mine": "yes",
			host: server.host,
			"accept-encoding": "identity",
		});
	});

	it("gives text back exactly, and other bytes as base64", async () => {
		const bytes = Buffer.from([0, 255, 1, 254]);
		const server = await aServer((request, response) => void response.end(request.url === "/b" ? bytes : "\ufeffé\0"));
		const { ask } = aBroker({ plugin: granted(server.host) });
		expect(unwrap<Value>(await ask("http", { method: "GET", url: `${server.url}/b` })).body).toEqual({
			base64: bytes.toString("base64"),
		});
		expect(unwrap<Value>(await ask("http", { method: "GET", url: server.url })).body).toEqual({ text: "\ufeffé\0" });
	});

	it("takes a secret out of a large body wherever it lies, and changes nothing else", async () => {
		const key = "canary-secret-value";
		const filler = "abcdefghij".repeat(13_108);
		const server = await aServer((_request, response) => void response.end(`${filler}${key}${filler}${key}`));
		const { ask, secrets } = aBroker({ plugin: granted(server.host), env: { KEY: key } });
		secrets.has("KEY");
		// 128 KiB and a few bytes before it: the value stands on the edge of a slice
		for (const cut of [0, 5, 18]) {
			const shifted = await aServer((_request, response) => {
				response.end(`${filler.slice(0, 128 * 1024 - cut)}${key}${filler}`);
			});
			const plugin = granted(shifted.host);
			const value = unwrap<Value>(await ask("http", { method: "GET", url: shifted.url }, { plugin }));
			expect(bodyOf(value)).toBe(`${filler.slice(0, 128 * 1024 - cut)}[redacted]${filler}`);
		}
		const value = unwrap<Value>(await ask("http", { method: "GET", url: server.url }));
		expect(bodyOf(value)).toBe(`${filler}[redacted]${filler}[redacted]`);
	});

	it("refuses a host that is asked for and not granted, with the command that grants it", async () => {
		const server = await aServer();
		const { ask } = aBroker({
			plugin: aPlugin({ asks: { http: { hosts: ["*"] } }, grant: { http: ["api.acme.test"] } }),
		});
		const result = await ask("http", { method: "GET", url: server.url });
		expect(result).toMatchObject({ ok: false, failure: { code: "unauthorized" }, permission: `http:${server.host}` });
		expect(!result.ok && result.failure.message).toContain(`mortise grant acme.plugin http:${server.host}`);
		expect(server.seen).toEqual([]);
	});

	it("refuses a host that the manifest does not ask for, though it is granted", async () => {
		const server = await aServer();
		const { ask } = aBroker({
			plugin: aPlugin({
				asks: { http: { hosts: ["api.acme.test"] } },
				grant: { http: [server.host, "api.acme.test"] },
			}),
		});
		const result = await ask("http", { method: "GET", url: server.url });
		expect(codeOf(result)).toBe("unauthorized");
		expect(!result.ok && result.permission).toBeUndefined();
		expect(server.seen).toEqual([]);
	});

	it.each([
		"http://127.0.0.1:PORT/",
		"http://2130706433:PORT/",
		"http://0x7f.1:PORT/",
		"http://[::ffff:127.0.0.1]:PORT/",
		"http://localhost:PORT/",
	])("does not reach this machine at %s through a wildcard, by either scheme", async (url) => {
		const server = await aServer();
		const { ask } = aBroker({ plugin: granted("*", `*:${server.port}`) });
		for (const scheme of ["http:", "https:"]) {
			const result = await ask("http", {
				method: "GET",
				url: url.replace("http:", scheme).replace("PORT", String(server.port)),
			});
			expect(codeOf(result)).toBe("unauthorized");
		}
		expect(server.seen).toEqual([]);
	});

	it("refuses a name that resolves to loopback, also when another of its addresses is public", async () => {
		const server = await aServer(undefined, { tls: true });
		for (const addresses of [["127.0.0.1"], ["93.184.215.14", "127.0.0.1"]]) {
			const network = fakeNetwork({});
			const { ask } = aBroker({
				...network,
				resolve: async () => addresses.map((address) => ({ address, family: 4 as const })),
				plugin: granted(`*.acme.test:${server.port}`, `api.acme.test:${server.port}`),
			});
			expect(codeOf(await ask("http", { method: "GET", url: `https://api.acme.test:${server.port}/` }))).toBe(
				"unauthorized",
			);
		}
		expect(server.seen).toEqual([]);
	});

	it("connects to the address it checked when the next answer of the resolver is another", async () => {
		const server = await aServer(
			(_request, response) => void response.writeHead(200, { connection: "close" }).end("public"),
			{ tls: true },
		);
		const network = fakeNetwork({});
		let asked = 0;
		const { ask } = aBroker({
			...network,
			resolve: async () => [{ address: asked++ === 0 ? "93.184.215.14" : "127.0.0.1", family: 4 }],
			plugin: granted(`*.acme.test:${server.port}`),
		});
		const url = `https://api.acme.test:${server.port}/`;
		expect(bodyOf(unwrap<Value>(await ask("http", { method: "GET", url })))).toBe("public");
		expect(asked).toBe(1);
		expect(codeOf(await ask("http", { method: "GET", url }))).toBe("unauthorized");
		expect(server.seen.length).toBe(1);
	});

	it("does not lend one plugin's connection to another with narrower grants", async () => {
		const server = await aServer(undefined, { tls: true });
		const network = { ...fakeNetwork({}), resolve: async () => [{ address: "10.9.9.9", family: 4 as const }] };
		const route = (to: { address: string; port: number }) => ({ address: "127.0.0.1", port: to.port });
		const { ask } = aBroker({ ...network, route });
		const url = `https://api.acme.test:${server.port}/`;
		const literal = granted(`api.acme.test:${server.port}`);
		expect(codeOf(await ask("http", { method: "GET", url }, { plugin: literal }))).toBe("ok");
		expect(codeOf(await ask("http", { method: "GET", url }, { plugin: granted(`*.acme.test:${server.port}`) }))).toBe(
			"unauthorized",
		);
	});

	it("checks the certificate against the name, not the address", async () => {
		const server = await aServer(undefined, { tls: true });
		const names = { "api.acme.test": {}, "not-in-it.acme.test": {} };
		const { ask } = aBroker({ ...fakeNetwork(names), plugin: granted(`*.acme.test:${server.port}`) });
		expect(codeOf(await ask("http", { method: "GET", url: `https://api.acme.test:${server.port}/` }))).toBe("ok");
		expect(codeOf(await ask("http", { method: "GET", url: `https://not-in-it.acme.test:${server.port}/` }))).toBe(
			"unavailable",
		);
	});

	it.each([
		["another scheme", { url: "file:///etc/passwd" }],
		["data", { url: "data:text/plain,x" }],
		["no URL", { url: "nonsense" }],
		["credentials", { url: "https://user:word@api.acme.test/" }],
		["CONNECT", { method: "CONNECT" }],
		["TRACE", { method: "TRACE" }],
		["a method in lower case", { method: "get" }],
		["a body with GET", { body: { text: "x" } }],
		["a line break in a header", { headers: [["x", "a\r\nhost: evil"]] }],
		["a line break in a header's name", { headers: [["x\r\ny", "a"]] }],
		["Host", { headers: [["Host", "evil.test"]] }],
		["Content-Length", { headers: [["content-length", "3"]] }],
		["Transfer-Encoding", { headers: [["Transfer-Encoding", "chunked"]] }],
		["Connection", { headers: [["connection", "upgrade"]] }],
		["Proxy-Authorization", { headers: [["Proxy-Authorization", "x"]] }],
		["Expect", { headers: [["expect", "100-continue"]] }],
		["headers past their cap", { headers: [["x", "y".repeat(httpCaps.requestHeaders)]] }],
		["a body past its cap", { method: "POST", body: { text: "x".repeat(httpCaps.requestBody + 1) } }],
		["an unknown argument", { proxy: "x" }],
	])("refuses as invalid: %s", async (_, args) => {
		const { ask } = aBroker({ plugin: granted("*") });
		expect(codeOf(await ask("http", { method: "GET", url: "https://api.acme.test/", ...args }))).toBe("invalid_input");
	});

	it("takes a response of exactly the cap and ends one beyond it while it is still being sent", async () => {
		let ended: Promise<void> | undefined;
		let written = 0;
		const server = await aServer((request, response) => {
			if (request.url === "/fits") return void response.end(Buffer.alloc(httpCaps.responseBody, "x"));
			ended = new Promise((done) => response.once("close", done));
			const more = (): void => {
				let isRoom = !response.destroyed;
				while (isRoom) {
					written += 65536;
					isRoom = response.write(Buffer.alloc(65536));
				}
				response.once("drain", more);
			};
			more();
		});
		const { ask } = aBroker({ plugin: granted(server.host) });
		expect(bodyOf(unwrap<Value>(await ask("http", { method: "GET", url: `${server.url}/fits` }))).length).toBe(
			httpCaps.responseBody,
		);
		const result = await ask("http", { method: "GET", url: `${server.url}/endless` });
		expect(result).toMatchObject({ ok: false, failure: { code: "unavailable", retryable: false } });
		await ended;
		// what the sockets between still hold comes on top
		expect(written).toBeLessThan(4 * httpCaps.responseBody);
	});

	it("undoes a content coding it did not ask for, and counts what comes out of it", async () => {
		const server = await aServer((request, response) => {
			const bomb = request.url === "/bomb";
			const body = bomb ? Buffer.alloc(httpCaps.responseBody + 1) : Buffer.from("hello");
			const brotli = request.url === "/br";
			response.writeHead(200, { "content-encoding": request.url === "/what" ? "zstd-9" : brotli ? "br" : "gzip" });
			response.end(brotli ? brotliCompressSync(body) : gzipSync(body));
		});
		const { ask } = aBroker({ plugin: granted(server.host) });
		for (const path of ["/gzip", "/br"]) {
			const value = unwrap<Value>(await ask("http", { method: "GET", url: `${server.url}${path}` }));
			expect(bodyOf(value)).toBe("hello");
			expect(value.headers.map(([name]) => name)).not.toContain("content-encoding");
		}
		expect(codeOf(await ask("http", { method: "GET", url: `${server.url}/bomb` }))).toBe("unavailable");
		expect(codeOf(await ask("http", { method: "GET", url: `${server.url}/what` }))).toBe("unavailable");
	});

	it("ends at its deadline and when it is cancelled, and at the end of its job", async () => {
		const arrived: (() => void)[] = [];
		const server = await aServer(() => arrived.shift()?.());
		const arrival = () => new Promise<void>((done) => arrived.push(done));
		const { ask, broker } = aBroker({ plugin: granted(server.host) });
		const get = { method: "GET", url: server.url };
		expect(await ask("http", { ...get, timeoutMs: 50 })).toMatchObject({
			failure: { code: "unavailable", retryable: true },
		});
		expect(codeOf(await ask("http", { ...get, timeoutMs: 60_000 }, { deadlineMs: 50 }))).toBe("unavailable");
		const stop = new AbortController();
		let sent = arrival();
		const cancelled = ask("http", get, { signal: stop.signal });
		await sent;
		stop.abort();
		expect(codeOf(await cancelled)).toBe("cancelled");
		expect(codeOf(await ask("http", get, { signal: stop.signal }))).toBe("cancelled");
		sent = arrival();
		const ended = ask("http", get);
		await sent;
		broker.endJob("job-1");
		expect(codeOf(await ended)).toBe("cancelled");
		expect(codeOf(await ask("http", get))).toBe("cancelled");
	});

	it("says unavailable for no such name, a closed port and a broken answer", async () => {
		const server = await aServer((request) => request.socket.end("nonsense\r\n\r\n"));
		const { ask } = aBroker({ ...fakeNetwork({}), plugin: granted("gone.acme.test", "127.0.0.1:1", server.host) });
		for (const url of ["https://gone.acme.test/", "http://127.0.0.1:1/", server.url])
			expect(await ask("http", { method: "GET", url })).toMatchObject({
				failure: { code: "unavailable", retryable: true },
			});
	});

	it("counts calls per job", async () => {
		const { ask } = aBroker({ plugin: granted("*") });
		for (let index = 0; index < callCaps.http; index += 1) await ask("http", { method: "GET", url: "nonsense" });
		expect(codeOf(await ask("http", { method: "GET", url: "nonsense" }))).toBe("rate_limited");
		expect(codeOf(await ask("http", { method: "GET", url: "nonsense" }, { job: "job-2" }))).toBe("invalid_input");
	});

	it("keeps no cookies between calls", async () => {
		const server = await aServer((_request, response) => void response.writeHead(200, { "set-cookie": "a=b" }).end());
		const { ask } = aBroker({ plugin: granted(server.host) });
		for (let index = 0; index < 2; index += 1) await ask("http", { method: "GET", url: server.url });
		expect(server.seen.map((seen) => seen.headers.cookie)).toEqual([undefined, undefined]);
	});
});

describe("redirects of host.http", () => {
	it("are followed at most five times", async () => {
		const server = await aServer((request, response) => {
			const left = Number(request.url?.slice(1));
			if (left === 0) return void response.end("there");
			response.writeHead(302, { location: `/${left - 1}` }).end();
		});
		const { ask } = aBroker({ plugin: granted(server.host) });
		expect(bodyOf(unwrap<Value>(await ask("http", { method: "GET", url: `${server.url}/5` })))).toBe("there");
		expect(codeOf(await ask("http", { method: "GET", url: `${server.url}/6` }))).toBe("unavailable");
	});

	it("to a host that is not granted, to loopback or to another scheme are refused", async () => {
		const inner = await aServer();
		let location = "";
		const outer = await aServer((_request, response) => void response.writeHead(302, { location }).end(), {
			tls: true,
		});
		const names = { "api.acme.test": {}, "inside.acme.test": { address: "127.0.0.1" } };
		const { ask } = aBroker({ ...fakeNetwork(names), plugin: granted(`*:${outer.port}`, `*:${inner.port}`) });
		for (const [to, code] of [
			[`${inner.url}/`, "unauthorized"],
			[`https://127.0.0.1:${inner.port}/`, "unauthorized"],
			[`//[::1]:${inner.port}/`, "unauthorized"],
			[`https://inside.acme.test:${inner.port}/`, "unauthorized"],
			["https://other.test:444/", "unauthorized"],
			["file:///etc/passwd", "invalid_input"],
			[`https://user@api.acme.test:${outer.port}/`, "invalid_input"],
		] as const) {
			location = to;
			expect(codeOf(await ask("http", { method: "GET", url: `https://api.acme.test:${outer.port}/` }))).toBe(code);
		}
		expect(outer.seen.length).toBe(7);
		expect(inner.seen).toEqual([]);
	});

	it.each([
		[301, "POST", "GET", ""],
		[302, "POST", "GET", ""],
		[302, "PUT", "PUT", "payload"],
		[303, "PUT", "GET", ""],
		[307, "POST", "POST", "payload"],
		[308, "POST", "POST", "payload"],
	])("with %i turn %s into %s as fetch does", async (status, method, expected, body) => {
		const server = await aServer((request, response) => {
			if (request.url === "/end") return void response.end();
			response.writeHead(status, { location: "/end" }).end();
		});
		const { ask } = aBroker({ plugin: granted(server.host) });
		const headers = [["content-type", "text/plain"]];
		unwrap(await ask("http", { method, url: server.url, headers, body: { text: "payload" } }));
		expect(server.seen[1]).toMatchObject({ method: expected, body });
		expect(server.seen[1]?.headers["content-type"]).toBe(body === "" ? undefined : "text/plain");
	});

	it("take credentials along on the same origin and drop them on another", async () => {
		const far = await aServer();
		const near = await aServer((request, response) => {
			const to = request.url === "/far" ? `${far.url}/end` : "/end";
			if (request.url === "/end") return void response.end();
			response.writeHead(307, { location: to }).end();
		});
		const { ask } = aBroker({ plugin: granted(near.host, far.host) });
		const headers = [
			["Authorization", "Bearer mine"],
			["Cookie", "a=b"],
			["x-other", "kept"],
		];
		unwrap(await ask("http", { method: "GET", url: `${near.url}/near`, headers }));
		unwrap(await ask("http", { method: "GET", url: `${near.url}/far`, headers }));
		expect(near.seen[1]?.headers).toMatchObject({ authorization: "Bearer mine", cookie: "a=b" });
		expect(far.seen[0]?.headers).toMatchObject({ "x-other": "kept" });
		expect(far.seen[0]?.headers.authorization).toBeUndefined();
		expect(far.seen[0]?.headers.cookie).toBeUndefined();
	});
});
