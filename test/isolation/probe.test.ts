import { describe, expect, it } from "vitest";
import { isolationProfiles, type OpenPlugin, type PluginCode, type ProbedProfile } from "../../src/contract/index.js";
import { openPlugin, prepareModule } from "../../src/engine/index.js";
import { describeProbed, describeProfile, type PrepareModule, probeProfiles } from "../../src/isolation/index.js";

const prepare = { prepare: prepareModule };

/** The profiles that were found, and why the implemented others were not. */
function found(probed: readonly ProbedProfile[]) {
	const reasons = probed.filter((each) => describeProfile(each.profile).implemented && !each.provided);
	return {
		provided: probed.filter((each) => each.provided).map((each) => each.profile),
		reasons: Object.fromEntries(reasons.map((each) => [each.profile, each.reason])),
	};
}

/** An open whose plugins are weakened before they run. */
function weakened(change: (code: PluginCode) => PluginCode): OpenPlugin {
	return (code, host) => openPlugin(change(code), host);
}

describe("probeProfiles (rule C10, DESIGN section 8)", () => {
	it("finds what this version implements, and says of each other profile that it does not", async () => {
		const probed = await probeProfiles(openPlugin, prepare);
		expect(probed.map((each) => each.profile)).toEqual(isolationProfiles);
		expect(found(probed)).toEqual({ provided: ["in-process", "wasm-js", "wasm"], reasons: {} });
		for (const each of probed) {
			if (!each.provided) expect(each.reason).toBe("not implemented in this version");
		}
	});

	it("ends, also where canaries spin", async () => {
		const start = performance.now();
		await probeProfiles(openPlugin, prepare);
		expect(performance.now() - start).toBeLessThan(10_000);
	});

	it("does not provide a profile whose loops are not ended", async () => {
		const open = weakened((code) => ({ ...code, limits: { ...code.limits, cpuMs: 60_000, timeoutMs: 60_000 } }));
		// the longest deadline a caller may give is longer than the canaries spin
		const patient: OpenPlugin = (code, host) => ({
			call: (call) => open(code, host).call({ ...call, timeoutMs: 60_000 }),
		});
		const { provided, reasons } = found(await probeProfiles(patient, prepare));
		expect(provided).toEqual(["in-process"]);
		expect(reasons["wasm-js"]).toContain("spins");
		expect(reasons.wasm).toContain("spins");
	});

	it("does not provide wasm-js when loops are ended everywhere but inside builtins", async () => {
		// stands for an engine that has only its own interrupt
		const open: OpenPlugin = (code, host) =>
			code.id.endsWith("spins-in-a-builtin")
				? { call: async () => ({ ok: true, output: { content: [{ type: "text", text: "went on" }] }, ms: 1 }) }
				: openPlugin(code, host);
		const { provided, reasons } = found(await probeProfiles(open, prepare));
		expect(provided).toEqual(["in-process", "wasm"]);
		expect(reasons["wasm-js"]).toContain("inside the engine's own code");
	});

	it("does not provide a profile that links what was not granted", async () => {
		const generous: PrepareModule = (bytes, options) =>
			prepareModule(bytes, { ...options, hostFunctions: ["kv", "http", "secret"] });
		const open = weakened((code) => ({ ...code, hostFunctions: [...code.hostFunctions, "kv"] }));
		const { provided, reasons } = found(await probeProfiles(open, { prepare: generous }));
		expect(provided).toEqual(["in-process"]);
		expect(reasons["wasm-js"]).toContain("finds-nothing");
		expect(reasons.wasm).toContain("imports");
	});

	it("does not provide a profile whose memory is not capped", async () => {
		const open = weakened((code) => ({ ...code, limits: { ...code.limits, memoryBytes: 2 ** 30 } }));
		const uncapped: PrepareModule = (bytes) => prepareModule(bytes, { memoryBytes: 2 ** 30 });
		const { provided, reasons } = found(await probeProfiles(open, { prepare: uncapped }));
		expect(provided).toEqual(["in-process"]);
		expect(reasons["wasm-js"]).toContain("grows");
		expect(reasons.wasm).toContain("grows");
	});

	it("does not take a failure of another kind for a denial", async () => {
		const broken: OpenPlugin = () => {
			throw new Error("nothing can be opened here");
		};
		const { provided, reasons } = found(await probeProfiles(broken, prepare));
		expect(provided).toEqual(["in-process"]);
		expect(reasons["wasm-js"]).toContain("host.internal");
		const outcome = {
			ok: false,
			error: { code: "plugin.threw", owner: "plugin", message: "" },
			retryable: false,
			ms: 0,
		} as const;
		const throwing: OpenPlugin = (code, host) =>
			code.id.endsWith("spins") ? { call: async () => outcome } : openPlugin(code, host);
		expect(found(await probeProfiles(throwing, prepare)).provided).toEqual(["in-process"]);
	});

	it("does not provide wasm where nothing prepares modules", async () => {
		expect(found(await probeProfiles(openPlugin)).provided).toEqual(["in-process", "wasm-js"]);
	});
});

describe("the table of profiles", () => {
	it("says of each what it is, what it stops and what it does not", () => {
		for (const profile of isolationProfiles) {
			const described = describeProfile(profile);
			expect(described.profile).toBe(profile);
			expect(described.stops.length).toBeGreaterThan(0);
			expect(described.doesNotStop.length).toBeGreaterThan(0);
		}
	});

	it("adds strength and limits to what a probe found, for x-isolation", () => {
		const [described] = describeProbed([{ profile: "wasm", provided: true }]);
		expect(described).toMatchObject({ profile: "wasm", provided: true, strength: "language" });
	});
});
