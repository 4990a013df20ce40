import { setImmediate } from "node:timers/promises";
import type { HostArguments, HostValue } from "@mortise/sdk/contract";
import { carriesSecret, type Header, placeSecrets, refuseStrayPlaceholders, type Sender } from "./egress.js";
import { decideHost } from "./host-decision.js";
import { type Target, targetOf } from "./host-pattern.js";
import {
	bodyValue,
	codingsOf,
	decodeBody,
	type HttpCall,
	httpCaps,
	readHttpCall,
	readUrl,
	responseTooLarge,
} from "./http-message.js";
import type { Placeholders } from "./placeholders.js";
import type { Redactor } from "./redact.js";
import { Refusal, ungranted } from "./refusal.js";
import type { SecretStore } from "./secrets.js";
import type { Streams } from "./streams.js";
import { AddressRefused, type Transport, type WireResponse } from "./transport.js";

/** Redirects followed at most in one call. */
export const maxRedirects = 5;

export type HttpOptions = {
	readonly transport: Transport;
	readonly placeholders: Placeholders;
	readonly secrets: SecretStore;
	readonly streams: Streams;
};
export type HttpRequest = {
	readonly sender: Sender;
	readonly arguments: HostArguments<"http">;
	/** Time left for the call, in milliseconds. */
	readonly deadlineMs: number;
	readonly signal: AbortSignal;
};

/**
 * `host.http`. Every hop is checked against what is asked and granted and against the address it leads to; redirects
 * follow the fetch standard's rules for methods, and credentials are dropped when the origin changes. The answer comes
 * with every secret value taken out, any HTTP status included. With `stream` it comes once the headers are there, and its
 * body is opened for `http_read`; a body under a content coding is read whole first.
 *
 * @throws Refusal `invalid_input`, `unauthorized`, `not_found`, `unavailable` (network, deadline, caps), `cancelled`
 */
export async function performHttp(request: HttpRequest, options: HttpOptions): Promise<HostValue<"http">> {
	const { sender } = request;
	const call = readHttpCall(request.arguments);
	refuseStrayPlaceholders({ sender, ...call, placeholders: options.placeholders });
	const exchange = startExchange(request);
	let isHandedOn = false;
	try {
		const response = await followRedirects({ call, sender, signal: exchange.signal, options });
		const redactor = options.secrets.redactor();
		const headers = response.headers
			.filter(([name]) => name !== "content-encoding" && name !== "content-length" && name !== "transfer-encoding")
			.map(([name, value]): [string, string] => [redactor.text(name), redactor.text(value)]);
		const { status } = response;
		if (request.arguments.stream !== true) {
			const body = await redacted(await decodeBody(response.headers, await readWhole(response.body)), redactor);
			return { status, headers, body: bodyValue(body) };
		}
		const stream = options.streams.open(
			{ job: sender.job, bundle: sender.plugin.bundle.manifest.id },
			{
				body: codingsOf(response.headers).length === 0 ? response.body : decoded(response),
				redactor: redactor.stream(),
				reasonOf: (error) => exchange.reasonOf(networkRefusal(error, call.url.host)),
				release: exchange.end,
			},
		);
		isHandedOn = true;
		return { status, headers, body: { text: "" }, stream };
	} catch (error) {
		throw exchange.reasonOf(error);
	} finally {
		if (!isHandedOn) exchange.end();
	}
}

type Exchange = {
	readonly signal: AbortSignal;
	/** What ended the exchange, when it was ended; else the error itself. */
	readonly reasonOf: (error: unknown) => unknown;
	/** Takes timer and listener away and lets the connection go. May be called again. */
	readonly end: () => void;
};

/** Sets the deadline of one exchange, over redirects and until its body is read. */
function startExchange(request: HttpRequest): Exchange {
	const timeoutMs = Math.max(1, Math.min(request.arguments.timeoutMs ?? Number.POSITIVE_INFINITY, request.deadlineMs));
	const stop = new AbortController();
	const cancel = (): void => stop.abort(new Refusal("cancelled", "the call was cancelled"));
	const timer = setTimeout(
		() => stop.abort(new Refusal("unavailable", `no answer within ${timeoutMs} ms`, { retryable: true })),
		Math.min(timeoutMs, 2 ** 31 - 1),
	);
	request.signal.addEventListener("abort", cancel, { once: true });
	if (request.signal.aborted) cancel();
	return {
		signal: stop.signal,
		reasonOf: (error) => (stop.signal.aborted ? stop.signal.reason : error),
		end: () => {
			clearTimeout(timer);
			request.signal.removeEventListener("abort", cancel);
			cancel();
		},
	};
}

async function* decoded(response: WireResponse): AsyncGenerator<Uint8Array> {
	yield await decodeBody(response.headers, await readWhole(response.body));
}

/** Bytes cleaned at a time: a few milliseconds of work. */
const sliceBytes = 128 * 1024;

/** Takes the secrets out slice by slice, and lets the event loop go on between: a body of megabytes must not hold it. */
async function redacted(body: Buffer, redactor: Redactor): Promise<Uint8Array> {
	const stream = redactor.stream();
	const pieces: Uint8Array[] = [];
	for (let at = 0; at < body.length; at += sliceBytes) {
		if (at > 0) await setImmediate();
		pieces.push(stream.push(body.subarray(at, at + sliceBytes)));
	}
	return Buffer.concat([...pieces, stream.end()]);
}

/** @throws Refusal `unavailable` past the cap */
async function readWhole(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	for await (const chunk of body) {
		size += chunk.length;
		// leaving the loop destroys the stream, and with it the socket
		if (size > httpCaps.responseBody) throw responseTooLarge();
		chunks.push(chunk);
	}
	return Buffer.concat(chunks);
}

async function followRedirects(request: {
	readonly call: HttpCall;
	readonly sender: Sender;
	readonly signal: AbortSignal;
	readonly options: HttpOptions;
}): Promise<WireResponse> {
	const { sender, signal, options } = request;
	let call = request.call;
	for (let hops = 0; ; hops += 1) {
		const response = await sendHop({ call, sender, signal, options });
		const location = response.headers.find(([name]) => name === "location")?.[1];
		if (![301, 302, 303, 307, 308].includes(response.status) || location === undefined) return response;
		if (hops === maxRedirects)
			throw new Refusal("unavailable", `more than ${maxRedirects} redirects`, { retryable: false });
		// a server must not carry a secret on to another host by writing it into an address
		if (options.secrets.redactor().finds(location)) throw new Refusal("unauthorized", "a redirect carries a secret");
		await discard(response.body);
		call = redirected(call, response.status, readUrl(location, call.url));
	}
}

async function sendHop(request: {
	readonly call: HttpCall;
	readonly sender: Sender;
	readonly signal: AbortSignal;
	readonly options: HttpOptions;
}): Promise<WireResponse> {
	const { call, sender, signal, options } = request;
	const target = checkTarget(sender, call.url);
	const headers = placeSecrets({ sender, target, headers: call.headers, ...options });
	signal.throwIfAborted();
	try {
		return await options.transport.send({
			bundle: sender.plugin.bundle.manifest.id,
			granted: sender.plugin.permissions.http?.granted ?? [],
			url: call.url,
			method: call.method,
			headers: [...headers, ["accept-encoding", "identity"]],
			body: call.body,
			signal,
		});
	} catch (error) {
		if (error instanceof AddressRefused) throw addressRefusal(sender, target, error.range);
		throw networkRefusal(error, target.host);
	}
}

/** What the network said, as a refusal; a refusal stays itself. */
function networkRefusal(error: unknown, host: string): Refusal {
	if (error instanceof Refusal) return error;
	const code = error instanceof Error && "code" in error ? String(error.code) : "failed";
	return new Refusal("unavailable", `the request to ${host} failed (${code})`, { retryable: true });
}

/** Lets a body go that nobody reads. */
async function discard(body: AsyncIterable<Uint8Array>): Promise<void> {
	for await (const _chunk of body) return;
}

function checkTarget(sender: Sender, url: URL): Target {
	const { bundle, permissions } = sender.plugin;
	const target = targetOf(url);
	if (target === undefined) throw new Refusal("invalid_input", "only https and http URLs are fetched");
	// without any grant `http` is absent as a whole; then the manifest says what was asked
	const http = permissions.http ?? { hosts: bundle.manifest.permissions?.http?.hosts ?? [], granted: [] };
	const decision = decideHost(http, target);
	if (decision.ok) return target;
	switch (decision.reason) {
		case "not-asked":
			throw new Refusal(
				"unauthorized",
				`${target.host} is not among the hosts that plugin.yaml of ${bundle.manifest.id} asks for`,
			);
		case "not-granted":
			throw ungranted(bundle.manifest.id, wordFor(target), `${target.host} is not granted`);
		case "plain-http":
			throw ungranted(bundle.manifest.id, wordFor(target), `plain http needs a grant that names ${target.host} itself`);
		default:
			return decision.reason satisfies never;
	}
}

function addressRefusal(sender: Sender, target: Target, range: string): Refusal {
	const { bundle, permissions } = sender.plugin;
	const what = `${target.host} leads to an address that is not public (${range})`;
	const decision = decideHost(permissions.http, target);
	if (decision.ok && !decision.literal) return ungranted(bundle.manifest.id, wordFor(target), what);
	return new Refusal("unauthorized", `${what}; the operator can grant that address itself as http:ADDRESS:PORT`);
}

/** The narrowest grant that opens a target: a port is written when it is not its scheme's own. */
function wordFor(target: Target): string {
	const isDefault = target.port === (target.scheme === "https" ? 443 : 80);
	return `http:${target.host}${isDefault ? "" : `:${target.port}`}`;
}

/** The next request after a redirect (Fetch standard, HTTP-redirect fetch). */
function redirected(call: HttpCall, status: number, url: URL): HttpCall {
	const becomesGet =
		(status === 303 && call.method !== "GET" && call.method !== "HEAD") ||
		((status === 301 || status === 302) && call.method === "POST");
	const isCrossOrigin = url.origin !== call.url.origin;
	const keep = (header: Header): boolean => {
		const name = header[0].toLowerCase();
		if (becomesGet && name.startsWith("content-")) return false;
		return !isCrossOrigin || !(name === "authorization" || name === "cookie" || carriesSecret(header));
	};
	return {
		method: becomesGet ? "GET" : call.method,
		url,
		headers: call.headers.filter(keep),
		body: becomesGet ? undefined : call.body,
	};
}
