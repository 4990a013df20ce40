import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { HostFunction, HostResult, Permissions } from "@mortise/sdk/contract";
import { afterEach } from "vitest";
import {
	type Broker,
	type BrokerOptions,
	createBroker,
	createSecretStore,
	defaultLimits,
	effectivePermissions,
	type SecretStore,
} from "../../src/broker/index.js";
import type { Grant, LoadedPlugin } from "../../src/contract/index.js";
import { openDatabase } from "../../src/database.js";
import { createLineLogger } from "../../src/log.js";

const fixture = (name: string) =>
	readFileSync(fileURLToPath(new URL(`../fixtures/broker/${name}`, import.meta.url)), "utf8");
/** A certificate for api.acme.test and other.acme.test that only these tests trust. */
export const ca = fixture("tls.crt");

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
	for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export function aFolder(): string {
	const folder = mkdtempSync(join(tmpdir(), "mortise-broker-"));
	cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
	return folder;
}

/** A plugin that asks for some permissions and is granted some. */
export function aPlugin(options: { id?: string; asks?: Permissions; grant?: Grant } = {}): LoadedPlugin {
	const manifest: LoadedPlugin["bundle"]["manifest"] = {
		contract: 1,
		id: options.id ?? "acme.plugin",
		version: "1.0.0",
		description: "test",
		runtime: "esm",
		entry: "plugin.js",
		provides: {},
		...(options.asks === undefined ? {} : { permissions: options.asks }),
	};
	return {
		bundle: { origin: "dropped", path: "/nowhere", manifest, files: new Map(), digest: "sha256:0" },
		permissions: effectivePermissions(manifest, options.grant),
		limits: defaultLimits,
		isolation: "wasm-js",
		config: {},
	};
}

export type TestBroker = {
	readonly broker: Broker;
	readonly folder: string;
	readonly lines: string[];
	readonly secrets: SecretStore;
	readonly ask: (
		name: HostFunction,
		args: unknown,
		more?: Partial<Parameters<Broker["handle"]>[0]>,
	) => Promise<HostResult>;
};

/** A broker on an in-memory database; its log lines are kept. */
export function aBroker(
	options: Partial<BrokerOptions> & { plugin?: LoadedPlugin; env?: Record<string, string> } = {},
): TestBroker {
	const folder = aFolder();
	const lines: string[] = [];
	const secrets = createSecretStore({ env: options.env ?? {}, storePath: join(folder, "secrets.json") });
	const broker = createBroker({
		database: openDatabase(":memory:"),
		secrets,
		log: createLineLogger((line) => lines.push(line)),
		logsFolder: join(folder, "logs"),
		...options,
	});
	cleanups.push(() => broker.close());
	const plugin = options.plugin ?? aPlugin();
	return {
		broker,
		folder,
		lines,
		secrets,
		ask: (name, args, more = {}) =>
			broker.handle({
				plugin,
				agent: "helper",
				job: "job-1",
				name,
				arguments: args,
				signal: new AbortController().signal,
				deadlineMs: 10_000,
				...more,
			}),
	};
}

export type Seen = {
	readonly method: string;
	readonly url: string;
	readonly headers: IncomingMessage["headers"];
	readonly body: string;
};
export type TestServer = { readonly port: number; readonly host: string; readonly url: string; readonly seen: Seen[] };

/** A loopback server that keeps what it was sent. */
export async function aServer(
	respond: RequestListener = (_request, response) => void response.end("hello"),
	options: { tls?: boolean } = {},
): Promise<TestServer> {
	const seen: Seen[] = [];
	const listener: RequestListener = async (request, response) => {
		const chunks: Buffer[] = [];
		for await (const chunk of request) chunks.push(chunk as Buffer);
		const body = Buffer.concat(chunks).toString();
		seen.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
		respond(Object.assign(request, { bodyText: body }), response);
	};
	const server: Server = options.tls
		? createTlsServer({ key: fixture("tls.key"), cert: ca }, listener)
		: createServer(listener);
	await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
	cleanups.push(() => {
		server.closeAllConnections();
		return new Promise((done) => server.close(done));
	});
	const { port } = server.address() as AddressInfo;
	const host = `127.0.0.1:${port}`;
	return { port, host, url: `${options.tls ? "https" : "http"}://${host}`, seen };
}

/** Names that resolve to a public address, which is dialled on loopback at the port the name stands for. */
export function fakeNetwork(names: Record<string, { address?: string; port?: number }>) {
	const asked: string[] = [];
	return {
		asked,
		ca,
		resolve: async (name: string) => {
			asked.push(name);
			const entry = names[name];
			if (entry === undefined) throw Object.assign(new Error("no such name"), { code: "ENOTFOUND" });
			return [{ address: entry.address ?? "93.184.215.14", family: 4 as const }];
		},
		route: (to: { address: string; port: number }) =>
			to.address === "93.184.215.14" ? { address: "127.0.0.1", port: to.port } : to,
	};
}

export function codeOf(result: HostResult): string {
	return result.ok ? "ok" : result.failure.code;
}

export function unwrap<T>(result: HostResult): T {
	if (!result.ok) throw new Error(`${result.failure.code}: ${result.failure.message}`);
	return result.value as T;
}
