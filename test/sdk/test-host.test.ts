import { hostFunctions } from "@mortise/sdk/contract";
import { createTestHost } from "@mortise/sdk/testing";
import { describe, expect, it } from "vitest";

describe("createTestHost", () => {
	it("has only what is granted beside log, now and random", () => {
		expect(Object.keys(createTestHost().host).sort()).toEqual(["log", "now", "random"]);
		const { host } = createTestHost({ http: [], secrets: [], kv: true, emit: true });
		expect(Object.keys(host).sort()).toEqual(Object.keys(hostFunctions).sort());
	});

	it("answers as the contract says", async () => {
		const { host } = createTestHost({ http: [{ json: { a: 1 } }, { base64: "aGk=" }], secrets: ["KEY"], kv: { a: 1 } });
		const { now, random, http, secret, kv } = hostFunctions;
		now.value.parse(await host.now());
		expect(atob(random.value.parse(await host.random({ bytes: 7 })).base64)).toHaveLength(7);
		http.value.parse(await host.http?.({ method: "GET", url: "https://a.test/" }));
		http.value.parse(await host.http?.({ method: "GET", url: "https://a.test/" }));
		secret.value.parse(await host.secret?.({ name: "KEY" }));
		kv.value.parse(await host.kv?.({ op: "get", key: "a" }));
	});

	it("is the same every time", async () => {
		const run = async () => {
			const { host } = createTestHost({ seed: 7 });
			return [await host.random({ bytes: 9 }), await host.now(), await host.now()];
		};
		expect(await run()).toEqual(await run());
	});

	it("keeps versions: a write on a condition that does not hold is unavailable and retryable", async () => {
		const { host, kv } = createTestHost({ kv: true });
		expect(await host.kv?.({ op: "set", key: "a", value: 1, ifVersion: 0 })).toEqual({ version: 1 });
		await expect(host.kv?.({ op: "set", key: "a", value: 2, ifVersion: 0 })).rejects.toMatchObject({
			code: "unavailable",
			retryable: true,
		});
		expect(await host.kv?.({ op: "set", key: "a", value: 2, ifVersion: 1 })).toEqual({ version: 2 });
		expect(await host.kv?.({ op: "list", prefix: "a" })).toEqual({ keys: ["a"] });
		expect(kv()).toEqual({ a: 2 });
		await host.kv?.({ op: "delete", key: "a" });
		expect(await host.kv?.({ op: "get", key: "a" })).toEqual({});
	});

	it("refuses a request without an answer, and a secret that is not stored", async () => {
		const { host, requests } = createTestHost({ http: [], secrets: [] });
		await expect(host.http?.({ method: "GET", url: "https://a.test/" })).rejects.toMatchObject({ code: "unavailable" });
		expect(requests).toHaveLength(1);
		await expect(host.secret?.({ name: "KEY" })).rejects.toMatchObject({ code: "not_found" });
	});
});
