import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createGrantStore, firstPartyGrants } from "../../src/broker/index.js";
import { isHostError } from "../../src/errors.js";
import { aFolder } from "./builders.js";

const dropped = { id: "acme.weather", origin: "dropped" as const, digest: "sha256:d" };
const shipped = { id: "kv-notes", origin: "first-party" as const, digest: "sha256:k" };
const digests = { "kv-notes": "sha256:k", "openai-compatible": "sha256:o", "http-fetch": "sha256:h" };

function codeFrom(action: () => unknown): string {
	try {
		action();
		return "none";
	} catch (error) {
		return isHostError(error) ? error.code : "other";
	}
}

describe("grants", () => {
	it("are nothing for a bundle dropped in, and what was granted afterwards", () => {
		const home = aFolder();
		const store = createGrantStore({ home });
		expect(store.grantOf(dropped)).toBeUndefined();
		expect(store.grant("acme.weather", "http:API.acme.test")).toBe("http:api.acme.test");
		store.grant("acme.weather", "secret:KEY");
		store.grant("acme.weather", "kv");
		store.grant("acme.weather", "isolation:sandbox-process");
		// another process sees them
		expect(createGrantStore({ home }).grantOf(dropped)).toEqual({
			http: ["api.acme.test"],
			secrets: ["KEY"],
			kv: true,
			isolation: "sandbox-process",
		});
		expect(statSync(join(home, "grants.json")).mode & 0o777).toBe(0o600);
		store.revoke("acme.weather", "secret:KEY");
		expect(store.grantOf(dropped)?.secrets).toBeUndefined();
		expect(store.ids()).toEqual(["acme.weather"]);
	});

	it("add to the configuration's, which keep their limits and settings", () => {
		const config = { "acme.weather": { http: ["a.test"], limits: { cpu: "1s" }, config: { unit: "C" } } };
		const store = createGrantStore({ home: aFolder(), config });
		store.grant("acme.weather", "http:b.test");
		expect(store.grantOf(dropped)).toEqual({
			http: ["a.test", "b.test"],
			limits: { cpu: "1s" },
			config: { unit: "C" },
		});
		store.revoke("acme.weather", "http:a.test");
		expect(store.grantOf(dropped)).toMatchObject({ http: ["b.test"] });
	});

	it("of first-party bundles hold for the very bytes that shipped", () => {
		const store = createGrantStore({ home: aFolder(), firstPartyDigests: digests });
		expect(store.grantOf(shipped)).toEqual({ kv: true });
		expect(store.grantOf({ ...shipped, digest: "sha256:other" })).toBeUndefined();
		expect(store.grantOf({ ...shipped, origin: "dropped" })).toBeUndefined();
		expect(store.grantOf({ ...shipped, id: "toString" })).toBeUndefined();
		expect(Object.keys(firstPartyGrants).sort()).toEqual([
			"http-fetch",
			"kv-notes",
			"offline",
			"openai-compatible",
			"text-kit",
		]);
	});

	it("stay revoked, also a first-party default, until granted again", () => {
		const home = aFolder();
		const store = createGrantStore({ home, firstPartyDigests: digests });
		expect(store.revoke("kv-notes", "kv")).toEqual({ word: "kv", stillGranted: [] });
		expect(createGrantStore({ home, firstPartyDigests: digests }).grantOf(shipped)).toBeUndefined();
		store.grant("kv-notes", "kv");
		expect(store.grantOf(shipped)).toEqual({ kv: true });
	});

	it("say which wider grant still allows what was revoked", () => {
		const store = createGrantStore({ home: aFolder(), firstPartyDigests: digests });
		expect(store.revoke("http-fetch", "http:a.test").stillGranted).toEqual(["http:*"]);
	});

	it("never let a revoke lower the configuration's isolation floor", () => {
		const config = { "acme.weather": { isolation: "container" as const } };
		const store = createGrantStore({ home: aFolder(), config });
		store.grant("acme.weather", "isolation:sandbox-process");
		expect(store.grantOf(dropped)?.isolation).toBe("container");
		store.revoke("acme.weather", "isolation:container");
		expect(store.grantOf(dropped)?.isolation).toBe("container");
	});

	it.each([
		["broken", "{"],
		["of another version", '{"version":2,"bundles":{}}'],
		["with an unknown word", '{"version":1,"bundles":{"a":{"granted":["root"],"revoked":[]}}}'],
		["with a duplicate key", '{"version":1,"version":1,"bundles":{}}'],
	])("in a file that is %s are an error with its place, and the file is never written over", (_, text) => {
		const home = aFolder();
		const file = join(home, "grants.json");
		writeFileSync(file, text, { mode: 0o600 });
		const store = createGrantStore({ home });
		for (const action of [
			() => store.grantOf(dropped),
			() => store.grant("acme.weather", "kv"),
			() => store.revoke("acme.weather", "kv"),
		])
			expect(codeFrom(action)).toBe("grants.invalid");
		expect(readFileSync(file, "utf8")).toBe(text);
		try {
			store.ids();
		} catch (error) {
			expect(isHostError(error) && error.problems?.[0]?.line).toBe(1);
		}
	});

	it("are not believed from a file that other users can write", () => {
		const home = aFolder();
		const store = createGrantStore({ home });
		store.grant("acme.weather", "kv");
		chmodSync(join(home, "grants.json"), 0o620);
		expect(codeFrom(() => store.grantOf(dropped))).toBe("private_file.exposed");
	});

	it("are refused for what is no bundle id or no permission", () => {
		const store = createGrantStore({ home: aFolder() });
		expect(codeFrom(() => store.grant("../x", "kv"))).toBe("grant.bundle_invalid");
		expect(codeFrom(() => store.grant("__proto__", "kv"))).toBe("grant.bundle_invalid");
		expect(codeFrom(() => store.grant("a", "sudo"))).toBe("grant.word_invalid");
	});
});
