import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/broker/index.js";
import { encodings } from "./encodings.js";

const canary = 'sk-Canary/4f9+2b&c=é"~\\q';

describe("the redactor", () => {
	const redactor = createRedactor([canary]);
	for (const [name, encode] of Object.entries(encodings))
		it(`takes a secret out: ${name}`, () => {
			for (const before of ["", "a", "ab", "abc"]) {
				const encoded = encode(canary, before);
				const bytes = Buffer.from(encoded as string);
				expect(redactor.finds(bytes)).toBe(true);
				const cleaned = Buffer.from(redactor.bytes(bytes));
				expect(cleaned.includes("[redacted]")).toBe(true);
				expect(redactor.finds(cleaned)).toBe(false);
				if (typeof encoded === "string") expect(redactor.text(encoded)).toBe(cleaned.toString());
			}
		});

	it("finds any printable value in every encoding", () => {
		const value = fc.string({
			unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
			minLength: 8,
			maxLength: 40,
		});
		fc.assert(
			fc.property(
				value,
				fc.constantFrom(...Object.entries(encodings)),
				fc.string({ maxLength: 5 }),
				(secret, [, encode], before) => {
					expect(createRedactor([secret]).finds(Buffer.from(encode(secret, before) as string))).toBe(true);
				},
			),
			{ numRuns: 500 },
		);
	});

	it("leaves everything else exactly as it is, binary too", () => {
		fc.assert(
			fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: "binary" }), (bytes, text) => {
				expect(redactor.bytes(bytes)).toBe(bytes);
				expect(redactor.text(text)).toBe(text);
			}),
		);
		expect(createRedactor(["short"]).text("a short one")).toBe("a short one");
	});

	it.each(["\\", "%25", "&amp;", "s\r\n", "sk-Canary/", "c2"])(
		"takes linear time on a body of %j again and again",
		(unit) => {
			const body = Buffer.alloc(4 * 1024 ** 2, unit);
			const start = performance.now();
			redactor.bytes(body);
			// a quadratic search takes minutes here
			expect(performance.now() - start).toBeLessThan(5000);
		},
	);
});
