import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { HostValue } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import { httpCaps } from "../../src/broker/index.js";
import { maxOpenStreams } from "../../src/broker/streams.js";
import { aBroker, aPlugin, aServer, codeOf, type TestBroker, unwrap } from "./builders.js";

type Opened = HostValue<"http">;
type Piece = HostValue<"http_read">;
const granted = (...http: string[]) => aPlugin({ asks: { http: { hosts: ["*"] } }, grant: { http } });

/** A server whose answer is written by the test, piece by piece. */
async function aStreamingServer(head: readonly [number, Record<string, string>] = [200, {}]) {
	let answer: (response: ServerResponse) => void = () => {};
	const answered = new Promise<ServerResponse>((resolve) => {
		answer = resolve;
	});
	let isClosed = () => {};
	const closed = new Promise<void>((resolve) => {
		isClosed = resolve;
	});
	const server = await aServer((_request, response) => {
		response.writeHead(...head);
		response.flushHeaders();
		response.on("close", isClosed);
		answer(response);
	});
	return { ...server, answered, closed };
}

const open = async ({ ask }: TestBroker, url: string, more: object = {}): Promise<Opened> =>
	unwrap<Opened>(await ask("http", { method: "GET", url, stream: true, ...more }));
const read = ({ ask }: TestBroker, stream: string | undefined) => ask("http_read", { stream });
const textOf = (piece: Piece): string => ("text" in piece.body ? piece.body.text : `base64:${piece.body.base64}`);

async function readAll(broker: TestBroker, stream: string | undefined): Promise<string> {
	let text = "";
	for (;;) {
		const piece = unwrap<Piece>(await read(broker, stream));
		text += textOf(piece);
		if (piece.done) return text;
	}
}

describe("a streamed response", () => {
	it("is there with its headers, and gives each piece when it comes", async () => {
		const server = await aStreamingServer([200, { "content-type": "text/event-stream" }]);
		const broker = aBroker({ plugin: granted(server.host) });
		const opened = await open(broker, server.url);
		expect(opened).toMatchObject({ status: 200, body: { text: "" }, stream: expect.any(String) });
		expect(opened.headers).toContainEqual(["content-type", "text/event-stream"]);
		const response = await server.answered;
		// each piece is written only after the one before was read
		for (const said of ["one ", "two ", "three"]) {
			response.write(said);
			expect(unwrap<Piece>(await read(broker, opened.stream))).toEqual({ body: { text: said }, done: false });
		}
		response.end();
		expect(unwrap<Piece>(await read(broker, opened.stream))).toEqual({ body: { text: "" }, done: true });
		expect(codeOf(await read(broker, opened.stream))).toBe("not_found");
	});

	it("gives whole characters, wherever the bytes are cut", async () => {
		const server = await aStreamingServer();
		const broker = aBroker({ plugin: granted(server.host) });
		const { stream } = await open(broker, server.url);
		const response = await server.answered;
		const bytes = Buffer.from("a🌍é");
		response.write(bytes.subarray(0, 3));
		expect(unwrap<Piece>(await read(broker, stream))).toEqual({ body: { text: "a" }, done: false });
		response.write(bytes.subarray(3, 6));
		expect(unwrap<Piece>(await read(broker, stream))).toEqual({ body: { text: "🌍" }, done: false });
		response.end(bytes.subarray(6));
		expect(await readAll(broker, stream)).toBe("é");
	});

	it("has no secret in it, also one that comes in pieces", async () => {
		const server = await aStreamingServer();
		const broker = aBroker({ plugin: granted(server.host), env: { KEY: "canary-secret-value" } });
		broker.secrets.has("KEY");
		const { stream } = await open(broker, server.url);
		const response = await server.answered;
		response.write("you sent canary-se");
		expect(textOf(unwrap<Piece>(await read(broker, stream)))).toBe("you sent ");
		response.end("cret-value, thanks");
		expect(await readAll(broker, stream)).toBe("[redacted], thanks");
	});

	it("belongs to one plugin and one job", async () => {
		const server = await aStreamingServer();
		const broker = aBroker({ plugin: granted(server.host) });
		const { stream } = await open(broker, server.url);
		(await server.answered).write("mine");
		expect(codeOf(await broker.ask("http_read", { stream }, { job: "job-2" }))).toBe("not_found");
		const other = aPlugin({ id: "acme.other", asks: { http: { hosts: ["*"] } }, grant: { http: [server.host] } });
		expect(codeOf(await broker.ask("http_read", { stream }, { plugin: other }))).toBe("not_found");
		await broker.ask("http_read", { stream, cancel: true }, { plugin: other });
		expect(textOf(unwrap<Piece>(await read(broker, stream)))).toBe("mine");
	});

	it.each([
		[
			"is given up",
			(broker: TestBroker, stream: string | undefined) => broker.ask("http_read", { stream, cancel: true }),
		],
		["lost its job", async (broker: TestBroker) => broker.broker.endJob("job-1")],
		["lost its broker", (broker: TestBroker) => broker.broker.close()],
	])("lets its connection go when it %s", async (_why, giveUp) => {
		const server = await aStreamingServer();
		const broker = aBroker({ plugin: granted(server.host) });
		const { stream } = await open(broker, server.url);
		(await server.answered).write("begun");
		await read(broker, stream);
		await giveUp(broker, stream);
		await server.closed;
		expect(["not_found", "cancelled"]).toContain(codeOf(await read(broker, stream)));
	});

	it("ends at the deadline of its call, with that as the reason", async () => {
		const server = await aStreamingServer();
		const broker = aBroker({ plugin: granted(server.host) });
		const { stream } = await open(broker, server.url, { timeoutMs: 200 });
		expect(await read(broker, stream)).toMatchObject({
			ok: false,
			failure: { code: "unavailable", message: "no answer within 200 ms", retryable: true },
		});
		await server.closed;
	});

	it("fails when the server breaks off", async () => {
		const server = await aStreamingServer([200, { "content-length": "100" }]);
		const broker = aBroker({ plugin: granted(server.host) });
		const { stream } = await open(broker, server.url);
		(await server.answered).destroy();
		expect(await read(broker, stream)).toMatchObject({ ok: false, failure: { code: "unavailable", retryable: true } });
	});

	it("is read once at a time", async () => {
		const server = await aStreamingServer();
		const broker = aBroker({ plugin: granted(server.host) });
		const { stream } = await open(broker, server.url);
		const first = read(broker, stream);
		expect(codeOf(await read(broker, stream))).toBe("invalid_input");
		(await server.answered).end("late");
		expect(textOf(unwrap<Piece>(await first))).toBe("late");
	});

	it("is one of a bounded number that a job has open", async () => {
		const server = await aServer((_request, response) => void response.write("x"));
		const broker = aBroker({ plugin: granted(server.host) });
		const opened = [];
		for (let index = 0; index < maxOpenStreams; index += 1) opened.push(await open(broker, server.url));
		expect(codeOf(await broker.ask("http", { method: "GET", url: server.url, stream: true }))).toBe("rate_limited");
		await broker.ask("http_read", { stream: opened[0]?.stream, cancel: true });
		expect(codeOf(await broker.ask("http", { method: "GET", url: server.url, stream: true }))).toBe("ok");
	});

	it("is cut off past its cap", async () => {
		const server = await aServer((_request, response) => void response.end(Buffer.alloc(httpCaps.streamBody + 1, "x")));
		const broker = aBroker({ plugin: granted(server.host) });
		const { stream } = await open(broker, server.url);
		let size = 0;
		let last = await read(broker, stream);
		for (; last.ok; last = await read(broker, stream)) size += textOf(last.value as Piece).length;
		expect(last).toMatchObject({ failure: { code: "unavailable", retryable: false } });
		expect(size).toBeLessThanOrEqual(httpCaps.streamBody);
	});

	it("is read whole first when it comes under a content coding", async () => {
		const server = await aServer((_request, response) => {
			response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("squeezed"));
		});
		const broker = aBroker({ plugin: granted(server.host) });
		expect(await readAll(broker, (await open(broker, server.url)).stream)).toBe("squeezed");
	});

	it("is opened where redirects lead", async () => {
		const server = await aServer((request, response) => {
			if (request.url === "/from") response.writeHead(302, { location: "/to" }).end("moved");
			else response.end("arrived");
		});
		const broker = aBroker({ plugin: granted(server.host) });
		expect(await readAll(broker, (await open(broker, `${server.url}/from`)).stream)).toBe("arrived");
	});
});
