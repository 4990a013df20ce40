import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import type { HostArguments, HostValue } from "@mortise/sdk/contract";
import type { Header } from "./egress.js";
import { Refusal } from "./refusal.js";

/** Caps of one `host.http` call, in bytes. */
export const httpCaps = {
	requestBody: 1024 ** 2,
	responseBody: 4 * 1024 ** 2,
	/** Of a body that is read in pieces, and so never held whole. */
	streamBody: 32 * 1024 ** 2,
	requestHeaders: 32 * 1024,
} as const;

/** A `host.http` call that was read and found well formed. */
export type HttpCall = {
	readonly method: string;
	readonly url: URL;
	readonly headers: readonly Header[];
	readonly body: Uint8Array | undefined;
};

/** Headers that are the host's to write: framing, connection, and the compression the redactor must see through. */
const hostHeaders = new Set(
	"accept-encoding connection content-length expect host http2-settings keep-alive te trailer transfer-encoding upgrade".split(
		" ",
	),
);
const refusedMethods = new Set(["CONNECT", "TRACE", "TRACK"]);

/**
 * Checks the arguments of `host.http` past their schema. Refused: methods CONNECT, TRACE and TRACK; a URL that is not
 * `http` or `https` or holds credentials; header names that are no tokens (RFC 9110) or are the host's own; values with
 * line breaks or beyond Latin-1; a body with GET or HEAD; anything past {@link httpCaps}.
 *
 * @throws Refusal `invalid_input`
 */
export function readHttpCall(args: HostArguments<"http">): HttpCall {
	const invalid = (message: string): Refusal => new Refusal("invalid_input", message);
	if (refusedMethods.has(args.method)) throw invalid(`the method ${args.method} is not allowed`);
	const url = readUrl(args.url);
	const headers = args.headers ?? [];
	let headerBytes = 0;
	for (const [name, value] of headers) {
		if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(name)) throw invalid("a header's name is no token");
		if (hostHeaders.has(name.toLowerCase()) || /^proxy-/i.test(name))
			throw invalid(`the header ${name.toLowerCase()} is the host's to set`);
		if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
			throw invalid(`the header ${name} holds characters that HTTP cannot carry`);
		headerBytes += name.length + value.length + 4;
	}
	if (headerBytes > httpCaps.requestHeaders)
		throw invalid(`the headers are larger than ${httpCaps.requestHeaders} bytes`);
	const body =
		args.body === undefined
			? undefined
			: "text" in args.body
				? Buffer.from(args.body.text, "utf8")
				: Buffer.from(args.body.base64, "base64");
	if (body !== undefined && body.length > httpCaps.requestBody)
		throw invalid(`the body is larger than ${httpCaps.requestBody} bytes`);
	if (body !== undefined && (args.method === "GET" || args.method === "HEAD"))
		throw invalid(`a ${args.method} request has no body`);
	return { method: args.method, url, headers, body };
}

/** Reads a URL as {@link readHttpCall} says; relative to `base` for a redirect. @throws Refusal `invalid_input` */
export function readUrl(text: string, base?: URL): URL {
	if (!URL.canParse(text, base)) throw new Refusal("invalid_input", "the URL cannot be read");
	const url = new URL(text, base);
	if (url.protocol !== "https:" && url.protocol !== "http:")
		throw new Refusal("invalid_input", "only https and http URLs are fetched");
	if (url.username !== "" || url.password !== "")
		throw new Refusal("invalid_input", "credentials in a URL are not allowed; use a header");
	if (url.hostname.endsWith(".")) url.hostname = url.hostname.slice(0, -1);
	url.hash = "";
	return url;
}

/**
 * Undoes a response's content coding (gzip, deflate, br), never past the cap. The host asks for none, so a server that
 * sends one anyway is met here and not by the plugin.
 *
 * @throws Refusal `unavailable` for an unknown or broken coding, or more bytes than the cap
 */
export async function decodeBody(headers: readonly Header[], body: Buffer): Promise<Buffer> {
	const codings = codingsOf(headers);
	if (codings.length > 2)
		throw new Refusal("unavailable", "the response is encoded too many times over", { retryable: false });
	let decoded = body;
	for (const coding of codings.reverse()) if (decoded.length > 0) decoded = await decodeOne(coding, decoded);
	return decoded;
}

/** The content codings of a body, in the order in which they were applied; none when it is as it is. */
export function codingsOf(headers: readonly Header[]): string[] {
	return headers
		.filter(([name]) => name === "content-encoding")
		.flatMap(([, value]) => value.toLowerCase().split(","))
		.map((coding) => coding.trim())
		.filter((coding) => coding !== "" && coding !== "identity");
}

/** The bytes as text when they are UTF-8, otherwise as base64; either way they can be had back exactly. */
export function bodyValue(bytes: Uint8Array): HostValue<"http">["body"] {
	try {
		return { text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
	} catch {
		return { base64: Buffer.from(bytes).toString("base64") };
	}
}

const decoders = {
	gzip: promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip),
	"x-gzip": promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip),
	deflate: promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate),
	br: promisify<Buffer, { maxOutputLength: number }, Buffer>(brotliDecompress),
};

async function decodeOne(coding: string, body: Buffer): Promise<Buffer> {
	if (!Object.hasOwn(decoders, coding))
		throw new Refusal("unavailable", "the response has a content coding the host does not know", { retryable: false });
	try {
		return await decoders[coding as keyof typeof decoders](body, { maxOutputLength: httpCaps.responseBody });
	} catch (error) {
		const isTooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
		throw isTooLarge ? responseTooLarge() : new Refusal("unavailable", "the response's content coding is broken");
	}
}

export function responseTooLarge(): Refusal {
	return new Refusal("unavailable", `the response is larger than ${httpCaps.responseBody} bytes`, { retryable: false });
}
