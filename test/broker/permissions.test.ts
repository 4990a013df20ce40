import { HostPattern, type Permissions } from "@mortise/sdk/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asksForHost } from "../../src/broker/host-pattern.js";
import {
	decideHost,
	effectiveLimits,
	effectivePermissions,
	grantCommand,
	grantWords,
	hostFunctionsOf,
	matchesHost,
	parseGrantWord,
	parseHostPattern,
	type Target,
	targetOf,
} from "../../src/broker/index.js";
import type { Grant } from "../../src/contract/index.js";
import { isHostError } from "../../src/errors.js";

const hostText = fc.oneof(
	fc.constantFrom(
		"*",
		"a.test",
		"b.test",
		"x.a.test",
		"*.a.test",
		"*.test",
		"127.0.0.1:8080",
		"a.test:8443",
		"[::1]",
		"localhost",
	),
	fc.stringMatching(/^[a-z]{1,4}\.[a-z]{1,4}$/),
);
const secretName = fc.constantFrom("KEY_A", "KEY_B", "KEY_C");
const asks = fc.record(
	{
		http: fc.record({ hosts: fc.array(hostText, { minLength: 1, maxLength: 4 }) }),
		secrets: fc.array(fc.record({ name: secretName, use: hostText.map((host) => `header authorization on ${host}`) }), {
			maxLength: 3,
		}),
		kv: fc.boolean(),
	},
	{ requiredKeys: [] },
);
const grants: fc.Arbitrary<Grant> = fc.record(
	{ http: fc.array(hostText, { maxLength: 4 }), secrets: fc.array(secretName, { maxLength: 3 }), kv: fc.boolean() },
	{ requiredKeys: [] },
);
const target: fc.Arbitrary<Target> = fc.record({
	scheme: fc.constantFrom("http", "https"),
	host: fc.constantFrom("a.test", "b.test", "x.a.test", "y.x.a.test", "127.0.0.1", "[::1]", "localhost", "c.test"),
	port: fc.constantFrom(80, 443, 8080, 8443),
});
const anyMatch = (patterns: readonly string[] | undefined, where: Target, matches = matchesHost) =>
	(patterns ?? []).some((text) => {
		const pattern = parseHostPattern(text);
		return pattern !== undefined && matches(pattern, where);
	});

describe("effective permissions", () => {
	it("never exceed what is granted nor what is asked", () => {
		fc.assert(
			fc.property(asks, grants, target, (permissions, grant, where) => {
				const effective = effectivePermissions({ permissions: permissions as Permissions }, grant);
				if (decideHost(effective.http, where).ok) {
					expect(anyMatch(permissions.http?.hosts, where, asksForHost)).toBe(true);
					expect(anyMatch(grant.http, where)).toBe(true);
				}
				for (const { name } of effective.secrets ?? []) {
					expect(grant.secrets ?? []).toContain(name);
					expect((permissions.secrets ?? []).map((secret) => secret.name)).toContain(name);
				}
				if (effective.kv) expect(permissions.kv === true && grant.kv === true).toBe(true);
				expect(grantWords({ permissions: permissions as Permissions })).toEqual(
					expect.arrayContaining([...effective.missing]),
				);
			}),
			{ numRuns: 1000 },
		);
	});

	it("miss nothing once every word the manifest asks for is granted", () => {
		fc.assert(
			fc.property(asks, (permissions) => {
				const words = grantWords({ permissions: permissions as Permissions }).map((word) => parseGrantWord(word));
				const grant: Grant = {
					http: words.flatMap((word) => (word.kind === "http" ? [word.text.slice(5)] : [])),
					secrets: words.flatMap((word) => (word.kind === "secret" ? [word.name] : [])),
					kv: words.some((word) => word.kind === "kv"),
				};
				expect(effectivePermissions({ permissions: permissions as Permissions }, grant).missing).toEqual([]);
			}),
		);
	});

	it("take a manifest's '*' as whichever hosts are granted", () => {
		const permissions = { http: { hosts: ["*"] } };
		expect(effectivePermissions({ permissions }, undefined)).toEqual({ missing: ["http:*"] });
		expect(effectivePermissions({ permissions }, { http: ["a.test"] })).toEqual({
			http: { hosts: ["*"], granted: ["a.test"] },
			missing: [],
		});
	});

	it("link what is granted and stand a stub for what is asked and not granted", () => {
		const permissions: Permissions = {
			http: { hosts: ["api.acme.test"] },
			secrets: [{ name: "KEY", use: "header Authorization on api.acme.test" }],
			kv: true,
		};
		const none = hostFunctionsOf(effectivePermissions({ permissions }, undefined));
		expect(none).toEqual({
			hostFunctions: ["log", "now", "random"],
			ungranted: { http: "http:api.acme.test", http_read: "http:api.acme.test", secret: "secret:KEY", kv: "kv" },
		});
		const some = hostFunctionsOf(effectivePermissions({ permissions }, { kv: true, secrets: ["KEY"] }));
		expect(some).toEqual({
			hostFunctions: ["log", "now", "random", "secret", "kv"],
			ungranted: { http: "http:api.acme.test", http_read: "http:api.acme.test" },
		});
		expect(hostFunctionsOf(effectivePermissions({}, { kv: true }))).toEqual({
			hostFunctions: ["log", "now", "random"],
			ungranted: {},
		});
	});
});

describe("grant words", () => {
	it("read to one spelling", () => {
		expect(parseGrantWord("http:API.Acme.test.").text).toBe("http:api.acme.test");
		expect(parseGrantWord("http:*.acme.test:8443").text).toBe("http:*.acme.test:8443");
		expect(parseGrantWord("isolation:sandbox-process")).toMatchObject({ profile: "sandbox-process" });
	});

	it.each([
		"",
		"http",
		"http:",
		"http:a/b",
		"secret:",
		"secret:A-B",
		"kv:x",
		"isolation:none",
		"tools:x",
		"constructor",
	])("refuse %j", (word) => {
		try {
			parseGrantWord(word);
			expect.unreachable();
		} catch (error) {
			expect(isHostError(error) && error.code).toBe("grant.word_invalid");
		}
	});

	it("are quoted in a command where a shell would read them", () => {
		expect(grantCommand("acme.weather", "http:api.acme.test")).toBe("mortise grant acme.weather http:api.acme.test");
		expect(grantCommand("acme.weather", "http:*")).toBe("mortise grant acme.weather 'http:*'");
		expect(grantCommand("acme.weather", "http:[::1]:80")).toBe("mortise grant acme.weather 'http:[::1]:80'");
	});

	it("match the contract's host pattern when written", () => {
		fc.assert(
			fc.property(hostText, (text) => HostPattern.safeParse(parseGrantWord(`http:${text}`).text.slice(5)).success),
		);
		expect(targetOf(new URL("ftp://a.test/"))).toBeUndefined();
	});
});

describe("effective limits", () => {
	it("are the defaults, the wish under the ceiling, or the operator's own word", () => {
		expect(effectiveLimits(undefined, undefined, undefined)).toEqual({
			memoryBytes: 64 * 1024 ** 2,
			cpuMs: 500,
			timeoutMs: 10_000,
			outputBytes: 256 * 1024,
		});
		const wish = { memory: "1GiB", cpu: "9s", timeout: "20m", output: "64MiB" };
		expect(effectiveLimits(wish, undefined, undefined)).toEqual({
			memoryBytes: 256 * 1024 ** 2,
			cpuMs: 2000,
			timeoutMs: 120_000,
			outputBytes: 4 * 1024 ** 2,
		});
		expect(effectiveLimits(wish, undefined, { cpu: "100ms" }).cpuMs).toBe(100);
		expect(effectiveLimits(undefined, undefined, { cpu: "100ms" }).cpuMs).toBe(100);
		expect(effectiveLimits({ cpu: "50ms" }, { cpu: "5s" }, { cpu: "100ms" }).cpuMs).toBe(5000);
	});
});
