import { definePlugin, defineProvider, defineStateTarget, defineTool, failure, type Plugin, text } from "@mortise/sdk";
import { Manifest } from "@mortise/sdk/contract";
import {
	type ConformanceKind,
	conformance,
	conformanceKinds,
	createTestHost,
	openInProcess,
	runConformance,
} from "@mortise/sdk/testing";
import { describe, expect, it } from "vitest";
import { aMemory, type Sabotage } from "./memory-in-memory.js";

const input = {
	type: "object",
	properties: { text: { type: "string" } },
	required: ["text"],
	additionalProperties: false,
} as const;

function aManifest(provides: Partial<Manifest["provides"]>): Manifest {
	return Manifest.parse({
		contract: 1,
		id: "acme.test",
		version: "1.0.0",
		description: "A test",
		runtime: "esm",
		entry: "plugin.js",
		provides,
	});
}

async function run(kind: ConformanceKind, manifest: Manifest, plugin: Plugin) {
	const { host } = createTestHost();
	return runConformance(conformance(kind, manifest, { run: "test" }), openInProcess(plugin, host));
}

async function failed(...args: Parameters<typeof run>): Promise<string[]> {
	return (await run(...args)).filter(({ outcome }) => outcome === "failed").map(({ id }) => id);
}

describe("the conformance suite for tools", () => {
	const manifest = aManifest({ tools: [{ name: "echo", description: "d", input, output: { type: "object" } }] });
	const good = defineTool({ name: "echo", input, run: (args) => ({ structured: { ...args } }) });

	it("passes a tool that keeps its promises", async () => {
		expect(await failed("tool", manifest, definePlugin({ tools: [good] }))).toEqual([]);
	});

	it.each<[string, Plugin, string]>([
		[
			"checks nothing",
			definePlugin({ tools: [defineTool({ name: "echo", run: () => ({ structured: {} }) })] }),
			"tool.wrong-type:echo",
		],
		[
			"says nothing",
			definePlugin({ tools: [defineTool({ name: "echo", input, run: () => [] })] }),
			"tool.answers:echo",
		],
		[
			"breaks its output schema",
			definePlugin({ tools: [defineTool({ name: "echo", input, run: () => ({ structured: 1 }) })] }),
			"tool.answers:echo",
		],
		["is another", definePlugin({ tools: [defineTool({ name: "other", run: () => "" })] }), "tool.answers:echo"],
		[
			"answers every operation",
			{ handle: async () => ({ ok: true, output: { content: text("x") } }) },
			"tool.unknown-op",
		],
		["throws", { handle: () => Promise.reject(new Error("x")) }, "tool.answers:echo"],
	])("catches one that %s", async (_what, plugin, id) => {
		expect(await failed("tool", manifest, plugin)).toContain(id);
	});

	it("takes isError for a refusal", async () => {
		const tool = defineTool({
			name: "echo",
			run: (args) =>
				typeof (args as { text?: unknown }).text === "string" && Object.keys(args as object).length === 1
					? { structured: {} }
					: failure("no"),
		});
		expect(await failed("tool", manifest, definePlugin({ tools: [tool] }))).toEqual([]);
	});
});

describe("the conformance suite for providers", () => {
	const manifest = aManifest({ providers: [{ name: "p", models: ["m"], features: ["tools"] }] });
	const reply = { content: text("hi"), toolCalls: [], usage: { input: 1, output: 1 }, stop: "end" as const };
	const provider = (chat: () => unknown, models = [{ id: "m", features: [] }]) =>
		definePlugin({ providers: [defineProvider({ name: "p", models, chat: chat as () => typeof reply })] });

	it("passes one that keeps its promises, and says why the rest was skipped", async () => {
		const outcomes = await run(
			"provider",
			manifest,
			provider(() => reply),
		);
		expect(outcomes.filter(({ outcome }) => outcome === "failed")).toEqual([]);
		expect(outcomes.find(({ id }) => id === "provider.vision")).toMatchObject({
			outcome: "skipped",
			reason: expect.stringContaining("vision"),
		});
	});

	it.each<[string, Plugin, string]>([
		["answers with nothing", provider(() => ({ ...reply, content: [] })), "provider.text"],
		[
			"calls a tool that is not there",
			provider(() => ({ ...reply, toolCalls: [{ id: "1", name: "x", arguments: {} }], stop: "tool" })),
			"provider.tool-result",
		],
		["gives no usage", provider(() => ({ ...reply, usage: undefined })), "provider.text"],
		["hides its model", provider(() => reply, []), "provider.models"],
		["stops for a tool it does not call", provider(() => ({ ...reply, stop: "tool" })), "provider.history"],
	])("catches one that %s", async (_what, plugin, id) => {
		expect(await failed("provider", manifest, plugin)).toContain(id);
	});
});

describe("the conformance suite for memory", () => {
	const manifest = aManifest({ memory: [{ name: "m", features: ["namespaces", "since"] }] });

	it("passes a store that keeps its promises", async () => {
		expect(await failed("memory", manifest, definePlugin({ memory: aMemory() }))).toEqual([]);
	});

	it("skips what the manifest does not declare, and then wants it refused", async () => {
		const plain = aManifest({ memory: [{ name: "m" }] });
		const outcomes = await run("memory", plain, definePlugin({ memory: aMemory() }));
		expect(outcomes.filter(({ outcome }) => outcome === "skipped").map(({ id }) => id)).toEqual([
			"memory.since",
			"memory.namespaces",
		]);
		expect(outcomes.find(({ id }) => id === "memory.unsupported")?.outcome).toBe("failed");
	});

	it.each<[Sabotage, string]>([
		["ignores agents", "memory.agents"],
		["takes an empty list for all", "memory.filters"],
		["lists the oldest first", "memory.newest-first"],
		["keeps what was replaced", "memory.replace"],
		["forgets nothing", "memory.forget"],
		["drops metadata", "memory.store-get"],
		["finds everything", "memory.recall"],
		["ignores the limit", "memory.limit-offset"],
		["includes until", "memory.since"],
		["ignores namespaces", "memory.namespaces"],
		["strips what is not ASCII", "memory.unicode"],
		["takes the query for a pattern", "memory.hostile-query"],
		["reuses a made key", "memory.made-key"],
		["fails on the absent", "memory.absent"],
	])("catches one that %s", async (sabotage, id) => {
		expect(await failed("memory", manifest, definePlugin({ memory: aMemory(sabotage) }))).toContain(id);
	});

	it("catches one that drops options it does not know", async () => {
		const { handle } = definePlugin({ memory: aMemory() });
		const dropping: Plugin = {
			handle: (envelope, host) => {
				const { no_such_option: _dropped, ...rest } = envelope.input as Record<string, unknown>;
				return handle({ ...envelope, input: rest }, host);
			},
		};
		expect(await failed("memory", manifest, dropping)).toEqual(["memory.unsupported"]);
	});
});

describe("the conformance suite for state targets", () => {
	const manifest = aManifest({ state_targets: ["s"] });

	it("passes one that publishes, and catches one that cannot", async () => {
		const target = (publish: () => void) => definePlugin({ stateTargets: [defineStateTarget({ name: "s", publish })] });
		expect(
			await failed(
				"state",
				manifest,
				target(() => {}),
			),
		).toEqual([]);
		const broken = target(() => {
			throw new Error("no");
		});
		expect(await failed("state", manifest, broken)).toEqual(["state.publish"]);
		const wordy: Plugin = { handle: async () => ({ ok: true, output: { more: 1 } }) };
		expect(await failed("state", manifest, wordy)).toContain("state.publish");
	});
});

describe("conformanceKinds", () => {
	it("names what the manifest provides", () => {
		expect(conformanceKinds(aManifest({ tools: [], state_targets: ["s"], memory: [{ name: "m" }] }))).toEqual([
			"memory",
			"state",
		]);
	});

	it("gives ids that are each used once", () => {
		const manifest = aManifest({
			tools: [
				{ name: "a", description: "d" },
				{ name: "b", description: "d" },
			],
		});
		const ids = (["tool", "provider", "memory", "state"] as const).flatMap((kind) =>
			conformance(kind, manifest).map(({ id }) => id),
		);
		expect(new Set(ids).size).toBe(ids.length);
	});
});
