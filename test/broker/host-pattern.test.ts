import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAddress } from "../../src/broker/address.js";
import {
	coversHost,
	intersectsHost,
	matchesHost,
	parseHostPattern,
	targetOf,
	writeHostPattern,
} from "../../src/broker/host-pattern.js";

const matches = (pattern: string, url: string): boolean => {
	const parsed = parseHostPattern(pattern);
	const target = targetOf(new URL(url));
	if (parsed === undefined || target === undefined) throw new Error(`${pattern} or ${url} cannot be read`);
	return matchesHost(parsed, target);
};

const label = fc.stringMatching(/^[a-z][a-z0-9]{0,6}$/);
const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
const port = fc.option(fc.integer({ min: 1, max: 65535 }), { nil: undefined });
const pattern = fc
	.tuple(
		fc.oneof(
			name,
			name.map((each) => `*.${each}`),
			fc.constant("*"),
			fc.constantFrom("127.0.0.1", "[::1]", "8.8.8.8"),
		),
		port,
	)
	.map(([host, number]) => (number === undefined ? host : `${host}:${number}`));
const target = fc.record({
	scheme: fc.constantFrom("http" as const, "https" as const),
	host: fc.oneof(name, fc.ipV4(), fc.constantFrom("[::1]", "127.0.0.1", "8.8.8.8")),
	port: fc.oneof(fc.constantFrom(80, 443), fc.integer({ min: 1, max: 65535 })),
});
const read = (text: string) => parseHostPattern(text) ?? { kind: "exact" as const, host: "never" };

describe("host patterns", () => {
	it.each([
		["api.acme.test", "https://api.acme.test/", true],
		["api.acme.test", "https://API.ACME.test./", true],
		["api.acme.test", "https://x.api.acme.test/", false],
		["api.acme.test", "https://api.acme.test.evil.test/", false],
		["*.acme.test", "https://api.acme.test/", true],
		["*.acme.test", "https://a.b.acme.test/", true],
		["*.acme.test", "https://acme.test/", false],
		["*.acme.test", "https://evilacme.test/", false],
		["*", "https://whatever.test/", true],
		["api.acme.test", "https://api.acme.test:8443/", false],
		["api.acme.test", "http://api.acme.test/", true],
		["api.acme.test", "http://api.acme.test:443/", false],
		["api.acme.test:8443", "https://api.acme.test:8443/", true],
		["api.acme.test:8443", "https://api.acme.test/", false],
		["bücher.test", "https://xn--bcher-kva.test/", true],
		["127.0.0.1:80", "http://2130706433/", true],
		["[::1]:8080", "http://[0:0:0:0:0:0:0:1]:8080/", true],
		["*", "https://8.8.8.8/", true],
	])("%s on %s: %s", (text, url, expected) => {
		expect(matches(text, url)).toBe(expected);
	});

	it.each([
		"",
		"*.",
		"**",
		"a*.test",
		"*.0.0.1",
		"*.127.0.0.1",
		"127.1",
		"0x7f000001",
		"2130706433",
		"a..b",
		"a/b",
		"user@host",
		"host:0",
		"host:70000",
		"host:",
		"https://host",
		"ho st",
		"a?b",
		"a%2eb",
		"::1",
		"[::1",
	])("refuses %j, which reads as another host than it looks like, or as none", (text) => {
		expect(parseHostPattern(text)).toBeUndefined();
	});

	it("never lets a wildcard over names match an address", () => {
		fc.assert(
			fc.property(fc.ipV4(), label, (address, suffix) => {
				const host = `${address}`;
				for (const wild of [
					{ kind: "suffix" as const, suffix: address.slice(address.indexOf(".") + 1) },
					read(`*.${suffix}`),
				])
					expect(matchesHost(wild, { scheme: "https", host, port: 443 })).toBe(false);
			}),
		);
	});

	it("writes a pattern so that it reads the same again", () => {
		fc.assert(
			fc.property(pattern, (text) => {
				const parsed = parseHostPattern(text);
				if (parsed !== undefined) expect(parseHostPattern(writeHostPattern(parsed))).toEqual(parsed);
			}),
		);
	});

	it("covers only what it matches, and meets whatever both match", () => {
		fc.assert(
			fc.property(pattern, pattern, target, (left, right, where) => {
				const [wide, narrow] = [read(left), read(right)];
				if (coversHost(wide, narrow) && matchesHost(narrow, where)) expect(matchesHost(wide, where)).toBe(true);
				if (matchesHost(wide, where) && matchesHost(narrow, where)) expect(intersectsHost(wide, narrow)).toBe(true);
			}),
			{ numRuns: 2000 },
		);
	});

	it("has a matching name end with the suffix and a dot before it", () => {
		fc.assert(
			fc.property(name, target, (suffix, where) => {
				const parsed = parseHostPattern(`*.${suffix}`);
				if (parsed !== undefined && matchesHost(parsed, where)) {
					expect(where.host.endsWith(`.${suffix}`)).toBe(true);
					expect(isAddress(where.host)).toBe(false);
				}
			}),
		);
	});
});
