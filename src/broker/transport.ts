import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { Agent, buildConnector } from "undici";
import { isAddress } from "./address.js";
import type { Header } from "./egress.js";
import { mayReachAddress } from "./host-decision.js";
import type { Target } from "./host-pattern.js";

/** Turns a name into addresses. Rejects when there is none. */
export type Resolve = (hostname: string) => Promise<readonly { readonly address: string; readonly family: 4 | 6 }[]>;

export type TransportOptions = {
	/** The system's resolver unless given. */
	readonly resolve?: Resolve;
	/** Where an address that passed the guard is really dialled: itself unless given. For tests on loopback. */
	readonly route?: (to: { readonly address: string; readonly port: number }) => { address: string; port: number };
	/** Certificate authorities (PEM) instead of the bundled ones. */
	readonly ca?: string;
};

export type WireRequest = {
	/** Connections are shared between requests with the same key and grants only. */
	readonly bundle: string;
	readonly granted: readonly string[];
	readonly url: URL;
	readonly method: string;
	readonly headers: readonly Header[];
	readonly body: Uint8Array | undefined;
	/** Aborting it ends the exchange, the reading of the body included. */
	readonly signal: AbortSignal;
};
export type WireResponse = {
	readonly status: number;
	readonly headers: readonly Header[];
	/** Comes as it arrives; leaving it early closes the connection. */
	readonly body: AsyncIterable<Uint8Array>;
};

/** The only way out to the network. */
export type Transport = {
	/** Sends one request and gives the answer once its headers are there; follows nothing. Throws `AddressRefused` or undici's errors. */
	readonly send: (request: WireRequest) => Promise<WireResponse>;
	readonly close: () => Promise<void>;
};

/** A name led to an address that may not be reached. */
export class AddressRefused extends Error {
	readonly range: string;
	constructor(range: string) {
		super(`the address is ${range}`);
		this.range = range;
	}
}
const connectTimeoutMs = 10_000;
/** Bytes of a response's header section. */
const maxHeaderBytes = 32 * 1024;
/** Keys of connection pools kept open at once. */
const maxAgents = 256;

const systemResolve: Resolve = async (hostname) => {
	const found = await lookup(hostname, { all: true, verbatim: true });
	return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
};

/**
 * Opens the way out. A name is resolved once for a connection, every address it has is checked, and the socket goes to a
 * checked one: an answer that changes between check and use (DNS rebinding) changes nothing. No proxy, no cookies, no
 * following of redirects, no environment variable is heeded.
 */
export function createTransport(options: TransportOptions = {}): Transport {
	const agents = new Map<string, Agent>();
	const agentFor = (bundle: string, granted: readonly string[]): Agent => {
		const key = JSON.stringify([bundle, granted]);
		const agent =
			agents.get(key) ??
			new Agent({
				connect: guardedConnector(granted, options),
				maxHeaderSize: maxHeaderBytes,
				headersTimeout: 0,
				bodyTimeout: 0,
				pipelining: 1,
			});
		// the one used longest ago goes first; close() lets what it is still sending end
		agents.delete(key);
		agents.set(key, agent);
		const oldest = agents.size > maxAgents ? agents.entries().next().value : undefined;
		if (oldest !== undefined) {
			agents.delete(oldest[0]);
			void oldest[1].close();
		}
		return agent;
	};
	return {
		send: async (request) => {
			const response = await agentFor(request.bundle, request.granted).request({
				origin: request.url.origin,
				path: `${request.url.pathname}${request.url.search}`,
				method: request.method as "GET",
				headers: request.headers.flat(),
				body: request.body ?? null,
				signal: request.signal,
			});
			// a body that fails while nobody reads it must not be an uncaught error; whoever reads it is told
			response.body.on("error", () => undefined);
			const headers = Object.entries(response.headers).flatMap(([name, value]) =>
				[value ?? []].flat().map((each) => [name, each] as const),
			);
			return { status: response.statusCode, headers, body: response.body };
		},
		close: async () => {
			const open = [...agents.values()];
			agents.clear();
			await Promise.all(open.map((agent) => agent.destroy()));
		},
	};
}

function guardedConnector(granted: readonly string[], options: TransportOptions): buildConnector.connector {
	const { resolve = systemResolve, route = (to) => to, ca } = options;
	return (request, callback) => {
		const scheme = request.protocol === "https:" ? "https" : "http";
		const port = request.port === "" ? (scheme === "https" ? 443 : 80) : Number(request.port);
		const { hostname } = request;
		const host = hostname.includes(":") ? `[${hostname}]` : hostname;
		const target: Target = { scheme, host, port };
		const connect = async (): Promise<void> => {
			// an address never reaches a resolver, so it is checked here as it is
			const family = hostname.includes(":") ? 6 : 4;
			const addresses = isAddress(hostname) ? [{ address: hostname, family } as const] : await resolve(hostname);
			if (addresses.length === 0) throw Object.assign(new Error("no address"), { code: "ENOTFOUND" });
			for (const { address } of addresses) {
				const allowed = mayReachAddress({ granted, target, address });
				if (!allowed.ok) throw new AddressRefused(allowed.range);
			}
			const routed = addresses.map((each) => route({ address: each.address, port }));
			const first = routed[0];
			if (first === undefined) return;
			const dial = buildConnector({
				timeout: connectTimeoutMs,
				lookup: fixedLookup(routed.map((each) => each.address)),
				...(ca === undefined ? {} : { ca }),
			});
			const servername = isAddress(hostname) ? {} : { servername: hostname };
			dial(
				{
					...request,
					...servername,
					hostname: isAddress(hostname) ? first.address : hostname,
					port: String(first.port),
				},
				callback,
			);
		};
		connect().catch((error: Error) => callback(error, null));
	};
}

/** A lookup that knows the checked addresses only. */
function fixedLookup(addresses: readonly string[]): LookupFunction {
	const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
	return (_hostname, lookupOptions, callback) => {
		const first = found[0];
		if (lookupOptions.all) callback(null, found);
		else if (first !== undefined) callback(null, first.address, first.family);
	};
}
