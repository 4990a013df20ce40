import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classifyAddress, isPublicAddress } from "../../src/broker/address.js";
import { decideHost, mayReachAddress, maySendSecret } from "../../src/broker/host-decision.js";

describe("addresses", () => {
	it.each([
		["8.8.8.8", "public"],
		["93.184.215.14", "public"],
		["2606:4700::1111", "public"],
		["10.0.0.1", "private"],
		["172.16.0.1", "private"],
		["192.168.1.1", "private"],
		["100.64.0.1", "private"],
		["fd12::1", "private"],
		["127.0.0.1", "special"],
		["127.255.0.9", "special"],
		["0.0.0.0", "special"],
		["::", "special"],
		["::1", "special"],
		["169.254.1.1", "special"],
		["fe80::1", "special"],
		["fec0::1", "special"],
		["169.254.169.254", "special"],
		["fd00:ec2::254", "special"],
		["100.100.100.200", "special"],
		["168.63.129.16", "special"],
		["224.0.0.1", "special"],
		["ff02::1", "special"],
		["255.255.255.255", "special"],
		["240.0.0.1", "special"],
		["198.18.0.1", "special"],
		["192.0.2.1", "special"],
		["2001:db8::1", "special"],
		["::ffff:127.0.0.1", "special"],
		["::ffff:8.8.8.8", "special"],
		["::ffff:7f00:1", "special"],
		["::127.0.0.1", "special"],
		["64:ff9b::7f00:1", "special"],
		["64:ff9b:1::1", "special"],
		["2002:7f00:1::", "special"],
		["2001::1", "special"],
		["1::1", "special"],
		["4000::1", "special"],
		["nonsense", "special"],
	])("%s is %s", (address, expected) => {
		expect(classifyAddress(address).class).toBe(expected);
	});

	it("is never public when an IPv6 address carries an IPv4 one", () => {
		fc.assert(
			fc.property(
				fc.ipV4(),
				fc.constantFrom("::ffff:", "::", "64:ff9b::", "64:ff9b:1::", "::ffff:0:"),
				(address, prefix) => {
					expect(isPublicAddress(`${prefix}${address}`)).toBe(false);
				},
			),
		);
	});
});

describe("which address a granted host may lead to", () => {
	const may = (granted: string[], host: string, address: string) =>
		mayReachAddress({ granted, target: { scheme: "http", host, port: 80 }, address }).ok;

	it.each([
		[["*"], "api.acme.test", "8.8.8.8", true],
		[["*"], "api.acme.test", "10.0.0.1", false],
		[["*.acme.test"], "api.acme.test", "10.0.0.1", false],
		[["*"], "127.0.0.1", "127.0.0.1", false],
		[["printer.lan"], "printer.lan", "192.168.1.9", true],
		[["printer.lan:8080"], "printer.lan", "192.168.1.9", false],
		[["localhost"], "localhost", "127.0.0.1", true],
		[["localhost"], "localhost", "::1", true],
		[["localhost"], "localhost", "169.254.169.254", false],
		[["127.0.0.1"], "127.0.0.1", "127.0.0.1", true],
		[["[::1]"], "[::1]", "::1", true],
		[["169.254.169.254"], "169.254.169.254", "169.254.169.254", true],
		// a domain its owner points at this machine or at cloud metadata
		[["api.acme.test"], "api.acme.test", "127.0.0.1", false],
		[["api.acme.test"], "api.acme.test", "169.254.169.254", false],
		[["api.acme.test"], "api.acme.test", "fd00:ec2::254", false],
		[["api.acme.test"], "api.acme.test", "::ffff:10.0.0.1", false],
		[["api.acme.test", "127.0.0.1"], "api.acme.test", "127.0.0.1", true],
		[["api.acme.test", "127.0.0.1:81"], "api.acme.test", "127.0.0.1", false],
	])("granted %j, %s at %s: %s", (granted, host, address, expected) => {
		expect(may(granted, host, address)).toBe(expected);
	});
});

describe("which scheme a grant opens", () => {
	const decide = (granted: string[], scheme: "http" | "https", host = "api.acme.test") =>
		decideHost({ hosts: ["*"], granted }, { scheme, host, port: scheme === "http" ? 80 : 443 });

	it("opens https by any pattern and plain http by a name alone", () => {
		expect(decide(["*"], "https")).toEqual({ ok: true, literal: false, named: false });
		expect(decide(["*.acme.test"], "https")).toEqual({ ok: true, literal: false, named: true });
		expect(decide(["*"], "http")).toEqual({ ok: false, reason: "plain-http" });
		expect(decide(["*.acme.test"], "http")).toEqual({ ok: false, reason: "plain-http" });
		expect(decide(["api.acme.test"], "http")).toEqual({ ok: true, literal: true, named: true });
	});

	it("reaches nothing by a manifest's '*' alone", () => {
		expect(decide([], "https")).toEqual({ ok: false, reason: "not-granted" });
		expect(decideHost(undefined, { scheme: "https", host: "a.test", port: 443 })).toEqual({
			ok: false,
			reason: "not-asked",
		});
	});

	it("sends secrets in clear to this machine and its own network only", () => {
		const may = (scheme: "http" | "https", host: string) => maySendSecret({ scheme, host, port: 1 });
		expect(may("https", "api.acme.test")).toBe(true);
		expect(may("http", "api.acme.test")).toBe(false);
		expect(may("http", "8.8.8.8")).toBe(false);
		for (const host of ["127.0.0.1", "[::1]", "10.1.2.3", "localhost", "ollama", "printer.lan"])
			expect(may("http", host)).toBe(true);
	});
});
