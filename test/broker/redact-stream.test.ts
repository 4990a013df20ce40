import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/broker/index.js";
import { encodings } from "./encodings.js";

const canary = 'sk-Canary/4f9+2b&c=é"~\\q';

/** What a stream redactor lets through of bytes that come in pieces of these lengths, over and over. */
function throughStream(redactor: ReturnType<typeof createRedactor>, bytes: Buffer, lengths: readonly number[]): Buffer {
	const stream = redactor.stream();
	const out: Uint8Array[] = [];
	for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
		const length = lengths[turn % lengths.length] ?? 1;
		out.push(stream.push(bytes.subarray(at, at + length)));
		at += length;
	}
	return Buffer.concat([...out, stream.end()]);
}

describe("the redactor of a stream", () => {
	const redactor = createRedactor([canary]);
	for (const [name, encode] of Object.entries(encodings))
		it(`takes a secret out wherever it is cut: ${name}`, () => {
			for (const before of ["", "a", "ab", "abc"]) {
				const bytes = Buffer.concat([Buffer.from("data: "), Buffer.from(encode(canary, before) as string)]);
				const all = Buffer.concat([bytes, Buffer.from("\n\nand so on")]);
				// within a byte of an escape nothing is whole yet: pieces of three bytes and more
				for (let cut = 1; cut < all.length; cut += 1) {
					const cleaned = throughStream(redactor, all, [cut, all.length]);
					expect(redactor.finds(cleaned)).toBe(false);
					expect(cleaned.includes("[redacted]")).toBe(true);
				}
			}
		});

	it("finds any printable value in pieces of any length", () => {
		const value = fc.string({
			unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
			minLength: 8,
			maxLength: 40,
		});
		const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });
		fc.assert(
			fc.property(value, lengths, fc.string({ maxLength: 20 }), (secret, cuts, before) => {
				const body = Buffer.from(`${before}${secret} ${JSON.stringify(secret)}${before}`);
				const cleaned = throughStream(createRedactor([secret]), body, cuts);
				expect(cleaned.includes(secret)).toBe(false);
			}),
			{ numRuns: 500 },
		);
	});

	it("leaves everything else exactly as it is, binary too", () => {
		const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 6 });
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 200 }), lengths, (bytes, cuts) => {
				expect(throughStream(redactor, Buffer.from(bytes), cuts)).toEqual(Buffer.from(bytes));
			}),
		);
	});

	it("passes on at once what cannot become a secret", () => {
		const stream = redactor.stream();
		const event = 'data: {"choices":[{"delta":{"content":"Hello"}}]}\n\n';
		for (let turn = 0; turn < 3; turn += 1) expect(Buffer.from(stream.push(Buffer.from(event))).toString()).toBe(event);
	});

	it("holds back no more than the end that may be a beginning", () => {
		const stream = redactor.stream();
		expect(Buffer.from(stream.push(Buffer.from("the key is sk-Can"))).toString()).toBe("the key is ");
		expect(Buffer.from(stream.push(Buffer.from("cel that"))).toString()).toBe("sk-Cancel that");
	});

	it.each(["s", "\\", "%25", "&amp;", "sk-Canary/", "c2"])("stays linear on a stream of %j again and again", (unit) => {
		const stream = redactor.stream();
		const piece = Buffer.alloc(64 * 1024, unit);
		let held = 0;
		for (let turn = 0; turn < 64; turn += 1) {
			held += piece.length - stream.push(piece).length;
			expect(held).toBeLessThan(4096);
		}
	});
});
