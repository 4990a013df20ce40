import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import type { Config, TurnEvent } from "../../src/contract/index.js";
import { aRuntime, closeLater, done } from "./workshop.js";

const event = (content: string, finish: string | null = null): string =>
	`data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: finish }] })}\n\n`;

/** A model server that answers when the test writes. */
async function aModelServer() {
	const server = createServer();
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	closeLater(async () => {
		server.closeAllConnections();
		server.close();
	});
	const { port } = server.address() as AddressInfo;
	const asked = async (): Promise<ServerResponse> => {
		const [request, response] = (await once(server, "request")) as [NodeJS.ReadableStream, ServerResponse];
		request.resume();
		response.writeHead(200, { "content-type": "text/event-stream" });
		return response;
	};
	return { host: `127.0.0.1:${port}`, asked };
}

const configFor = (host: string): Config => ({
	agents: { helper: { provider: { name: "openai-compatible", model: "m", base_url: `http://${host}/v1` } } },
	// loopback is reached by a grant that names it only
	grants: { "openai-compatible": { http: [host] } },
});

describe("an answer that is watched", () => {
	it("leaves the sandbox piece by piece, each before the server has written the next", async () => {
		const server = await aModelServer();
		const { runtime } = await aRuntime({ config: configFor(server.host) });
		const pieces: string[] = [];
		let isThere = () => {};
		const onEvent = (seen: TurnEvent) => {
			if (seen.type !== "model-delta" || seen.piece.type !== "delta") return;
			pieces.push(seen.piece.text);
			isThere();
		};
		const answering = server.asked();
		const turn = runtime.runTurn("helper", "hello", { onEvent, stream: true });
		const response = await answering;
		for (const [index, text] of ["one ", "two ", "three"].entries()) {
			const arrived = new Promise<void>((resolve) => {
				isThere = resolve;
			});
			response.write(event(text));
			await arrived;
			expect(pieces).toHaveLength(index + 1);
		}
		response.end(`${event("", "stop")}data: [DONE]\n\n`);
		expect(done(await turn).reply).toBe("one two three");
		expect(pieces).toEqual(["one ", "two ", "three"]);
	});

	it("fails by name when the server cuts it, and the runtime goes on", async () => {
		const server = await aModelServer();
		const { runtime } = await aRuntime({ config: configFor(server.host) });
		let cut = () => {};
		const answering = server.asked().then((response) => {
			response.write(event("half"));
			cut = () => response.destroy();
		});
		const onEvent = (seen: TurnEvent) => {
			if (seen.type === "model-delta") cut();
		};
		const failed = await runtime.runTurn("helper", "hello", { onEvent, stream: true });
		await answering;
		expect(failed).toMatchObject({ kind: "failed", error: { code: "plugin.failed", owner: "plugin" } });
		const well = server.asked().then((response) => response.end(`${event("whole", "stop")}data: [DONE]\n\n`));
		expect(done(await runtime.runTurn("helper", "hello", { stream: true })).reply).toBe("whole");
		await well;
	});

	it("is no different without a watcher", async () => {
		const server = await aModelServer();
		const { runtime } = await aRuntime({ config: configFor(server.host) });
		const events: string[] = [];
		const answering = server.asked().then((response) => {
			response.end(JSON.stringify({ choices: [{ message: { content: "whole" }, finish_reason: "stop" }] }));
		});
		const result = await runtime.runTurn("helper", "hello", { onEvent: (seen) => events.push(seen.type) });
		await answering;
		expect(done(result).reply).toBe("whole");
		expect(events).not.toContain("model-delta");
	});
});
