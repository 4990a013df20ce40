import { randomBytes } from "node:crypto";
import type { HostValue } from "@mortise/sdk/contract";
import { bodyValue, httpCaps } from "./http-message.js";
import type { StreamRedactor } from "./redact-stream.js";
import { Refusal } from "./refusal.js";

/** Streams that one job may have open at a time; the next one is refused. */
export const maxOpenStreams = 16;

/** Whose a stream is: no other plugin and no other job can read it. */
export type StreamOwner = { readonly job: string; readonly bundle: string };

/** A response body on its way in. */
export type StreamSource = {
	readonly body: AsyncIterable<Uint8Array>;
	readonly redactor: StreamRedactor;
	/** Why reading failed: the deadline, a cancellation, or what the network said. */
	readonly reasonOf: (error: unknown) => unknown;
	/** Ends the exchange. Called once, when the stream was read to its end, failed, or was given up. */
	readonly release: () => void;
};

/** The bodies that `http` opened and `http_read` reads, piece by piece. */
export type Streams = {
	/** @throws Refusal `rate_limited` when the job has too many open; the source stays the caller's then */
	readonly open: (owner: StreamOwner, source: StreamSource) => string;
	/** The next piece. @throws Refusal `not_found`, `invalid_input` (two reads at a time), `unavailable`, `cancelled` */
	readonly read: (owner: StreamOwner, id: string) => Promise<HostValue<"http_read">>;
	/** Lets a stream go. Of one that is not there, nothing. */
	readonly cancel: (owner: StreamOwner, id: string) => void;
	readonly endJob: (job: string) => void;
};

type Open = {
	readonly owner: StreamOwner;
	readonly source: StreamSource;
	readonly pieces: AsyncIterator<Uint8Array>;
	isReading: boolean;
	size: number;
	/** Bytes of a character that is not whole yet. */
	rest: Uint8Array;
};

export function createStreams(): Streams {
	const streams = new Map<string, Open>();
	const drop = (id: string): void => {
		const stream = streams.get(id);
		if (!streams.delete(id) || stream === undefined) return;
		stream.source.release();
	};
	const find = (owner: StreamOwner, id: string): Open => {
		const stream = streams.get(id);
		if (stream === undefined || stream.owner.job !== owner.job || stream.owner.bundle !== owner.bundle)
			throw new Refusal("not_found", "no such stream is open; one that was read to its end is closed");
		return stream;
	};
	return {
		open: (owner, source) => {
			const open = [...streams.values()].filter((stream) => stream.owner.job === owner.job).length;
			if (open >= maxOpenStreams)
				throw new Refusal("rate_limited", `more than ${maxOpenStreams} streams at a time`, { retryable: false });
			const id = randomBytes(12).toString("hex");
			const pieces = source.body[Symbol.asyncIterator]();
			streams.set(id, { owner, source, pieces, isReading: false, size: 0, rest: new Uint8Array() });
			return id;
		},
		read: async (owner, id) => {
			const stream = find(owner, id);
			if (stream.isReading) throw new Refusal("invalid_input", "this stream is being read already");
			stream.isReading = true;
			try {
				const piece = await nextPiece(stream);
				if (piece.done) drop(id);
				return piece;
			} catch (error) {
				const reason = stream.source.reasonOf(error);
				drop(id);
				throw reason;
			} finally {
				stream.isReading = false;
			}
		},
		cancel: (owner, id) => {
			const stream = streams.get(id);
			if (stream?.owner.job === owner.job && stream.owner.bundle === owner.bundle) drop(id);
		},
		endJob: (job) => {
			for (const [id, { owner }] of streams) if (owner.job === job) drop(id);
		},
	};
}

async function nextPiece(stream: Open): Promise<HostValue<"http_read">> {
	for (;;) {
		const next = await stream.pieces.next();
		stream.size += next.done ? 0 : next.value.byteLength;
		if (stream.size > httpCaps.streamBody)
			throw new Refusal("unavailable", `the response is larger than ${httpCaps.streamBody} bytes`, {
				retryable: false,
			});
		const clean = next.done ? stream.source.redactor.end() : stream.source.redactor.push(next.value);
		const bytes = Buffer.concat([stream.rest, clean]);
		const cut = next.done ? bytes.length : wholeCharacters(bytes);
		stream.rest = bytes.subarray(cut);
		if (next.done || cut > 0) return { body: bodyValue(bytes.subarray(0, cut)), done: next.done === true };
	}
}

/** How many of the bytes are whole characters of UTF-8; all of them when they do not end within one (RFC 3629). */
function wholeCharacters(bytes: Uint8Array): number {
	for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
		const byte = bytes[bytes.length - back] ?? 0;
		if (byte < 0x80) return bytes.length;
		if (byte < 0xc0) continue;
		const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
		return needed > back ? bytes.length - back : bytes.length;
	}
	return bytes.length;
}
