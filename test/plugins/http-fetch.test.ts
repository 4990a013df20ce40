import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createTestHost, type ScriptedResponse } from "@mortise/sdk/testing";
import { describe, expect, it } from "vitest";
import { openBundle } from "./open.js";

async function get(response: ScriptedResponse, config = {}) {
	const { host, requests } = createTestHost({ http: [response] });
	const opened = await openBundle("http-fetch", host, config);
	const result = await opened.call("tool.call", { name: "http_get", arguments: { url: "https://example.test/a" } });
	return { result, requests };
}

describe("http-fetch", () => {
	it("gives the status, the headers of interest and the text", async () => {
		const headers = { "Content-Type": "text/plain", "Set-Cookie": "secret=1", ETag: '"x"' };
		const { result } = await get({ headers, text: "héllo" });
		expect(result).toMatchObject({
			ok: true,
			output: {
				structured: { status: 200, headers: { "content-type": "text/plain", etag: '"x"' }, characters: 5, cut: false },
			},
		});
		const shown = JSON.stringify(result);
		expect(shown).toContain("héllo");
		expect(shown).not.toContain("secret=1");
	});

	it("cuts a long body between characters and says so", async () => {
		const { result } = await get({ text: "😀".repeat(10) }, { max_characters: 4 });
		expect(result).toMatchObject({ ok: true, output: { structured: { characters: 10, cut: true } } });
		expect(JSON.stringify(result)).toContain("HTTP 200\\n\\n😀😀😀😀\\n\\n(cut: 4 of 10 characters shown)");
	});

	it("reports a status of 400 and above as an error the model reads", async () => {
		expect((await get({ status: 404, text: "no" })).result).toMatchObject({ ok: true, output: { isError: true } });
	});

	it("does not show a body that is not text, and decodes one that is", async () => {
		const image = await get({ headers: { "content-type": "image/png" }, base64: "iVBORw0=" });
		expect(JSON.stringify(image.result)).toContain("(the body is not text)");
		const latin = await get({ headers: { "content-type": "text/html; charset=ISO-8859-1" }, base64: "6Q==" });
		expect(JSON.stringify(latin.result)).toContain("é");
	});

	it.each(["file:///etc/passwd", "javascript:1", "example.test", "https://"])("refuses the address %j", async (url) => {
		const { host } = createTestHost({ http: [] });
		const opened = await openBundle("http-fetch", host);
		const result = await opened.call("tool.call", { name: "http_get", arguments: { url } });
		expect(result).toMatchObject({ ok: false, failure: { code: "invalid_input" } });
	});

	it("hands on the host's refusal with its code", async () => {
		const failure = { code: "unauthorized" as const, message: "run: mortise grant http-fetch http:example.test" };
		expect((await get({ failure })).result).toMatchObject({ ok: false, failure: { code: "unauthorized" } });
	});

	it("reads from a real server", async () => {
		const server = createServer((_request, response) =>
			response.setHeader("content-type", "text/plain").end("from the server"),
		);
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		try {
			const { host } = createTestHost();
			const opened = await openBundle("http-fetch", {
				...host,
				async http({ url }) {
					const response = await fetch(url);
					return { status: response.status, headers: [...response.headers], body: { text: await response.text() } };
				},
			});
			const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
			const result = await opened.call("tool.call", { name: "http_get", arguments: { url } });
			expect(JSON.stringify(result)).toContain("from the server");
		} finally {
			await new Promise((resolve) => server.close(resolve));
		}
	});
});
