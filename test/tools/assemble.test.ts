import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlannedTool } from "../../src/contract/index.js";
import { assemble, createDropLog, why } from "../../src/tools/index.js";
import { aTool } from "./builders.js";

const bundleOf = (bundle: string, ...names: string[]): { bundle: string; tools: PlannedTool[] } => ({
	bundle,
	tools: names.map((name) => aTool(name, { bundle })),
});

describe("who keeps a name", () => {
	it("R69 R80 a native tool keeps its name before a plugin's", () => {
		const native = aTool("file_read");
		const { tools, drops } = assemble({
			native: [native],
			reserved: [],
			plugins: [bundleOf("acme.a", "file_read", "own")],
		});
		expect(tools.map((tool) => tool.name)).toEqual(["file_read", "own"]);
		expect(tools[0]).toBe(native);
		expect(drops).toEqual([
			{ name: "file_read", origin: "plugin", bundle: "acme.a", keptBy: { origin: "native" }, rule: "R80" },
		]);
	});

	it("R80 a plugin tool gives way to a reserved name, which then answers to nobody", () => {
		const assembled = assemble({
			native: [],
			reserved: [{ name: "tool_search", by: "search" }],
			plugins: [bundleOf("acme.a", "tool_search")],
		});
		expect(assembled.tools).toEqual([]);
		expect(why("tool_search", assembled)).toEqual({
			name: "tool_search",
			winner: null,
			losers: [{ origin: "plugin", bundle: "acme.a", rule: "R80" }],
		});
	});

	it("a native tool may carry a reserved name: native comes before reserved", () => {
		const { tools, drops } = assemble({
			native: [aTool("tool_search")],
			reserved: [{ name: "tool_search", by: "search" }],
			plugins: [],
		});
		expect([tools.length, drops.length]).toEqual([1, 0]);
	});

	it.each(["mcp_resources", "mcp_prompts"])("R74 keeps %s for itself although nothing is reserved", (name) => {
		const { tools, drops } = assemble({ native: [], reserved: [], plugins: [bundleOf("acme.a", name)] });
		expect(tools).toEqual([]);
		expect(drops).toMatchObject([{ name, keptBy: { origin: "reserved" }, rule: "R74" }]);
	});

	it("R81 keeps the first of two tools with one name in a list, as the same object", () => {
		const first = aTool("twice", { description: "first" });
		const second = aTool("twice", { description: "second" });
		const natives = assemble({ native: [first, second], reserved: [], plugins: [] });
		expect(natives.tools).toEqual([first]);
		expect(natives.tools[0]).toBe(first);
		expect(natives.drops).toMatchObject([
			{ name: "twice", origin: "native", keptBy: { origin: "native" }, rule: "R81" },
		]);
		const one = aTool("twice", { bundle: "acme.a", description: "first" });
		const two = aTool("twice", { bundle: "acme.a", description: "second" });
		const plugins = assemble({ native: [], reserved: [], plugins: [{ bundle: "acme.a", tools: [one, two] }] });
		expect(plugins.tools[0]).toBe(one);
		expect(plugins.drops).toHaveLength(1);
	});

	it("R81 between two bundles the lower id wins, whichever was loaded first", () => {
		const [a, b] = [bundleOf("acme.a", "shared"), bundleOf("acme.b", "shared")];
		for (const plugins of [
			[a, b],
			[b, a],
		]) {
			const assembled = assemble({ native: [], reserved: [], plugins });
			expect(why("shared", assembled)).toEqual({
				name: "shared",
				winner: { origin: "plugin", bundle: "acme.a" },
				losers: [{ origin: "plugin", bundle: "acme.b", rule: "R81" }],
			});
			expect(assembled.drops[0]?.keptBy).toEqual({ origin: "plugin", bundle: "acme.a" });
		}
	});

	it("R133 compares names exactly", () => {
		const { tools, drops } = assemble({
			native: [aTool("file_read")],
			reserved: [],
			plugins: [bundleOf("acme.a", "File_Read", "file-read")],
		});
		expect(tools).toHaveLength(3);
		expect(drops).toEqual([]);
	});

	it.each(["", "a b", "a.b", "naïve", "x".repeat(65), "a\n", "__proto__\u0000", "a\u202eb", "fi\u200dle"])(
		"R133 drops the name %j and shows it escaped",
		(name) => {
			const assembled = assemble({ native: [aTool(name)], reserved: [], plugins: [bundleOf("acme.a", name)] });
			expect(assembled.tools).toEqual([]);
			expect(assembled.drops.map((drop) => drop.rule)).toEqual(["R133", "R133"]);
			expect(assembled.drops[0]?.name).not.toMatch(/\p{Cc}|\p{Cf}/u);
			expect(why(name, assembled).losers).toHaveLength(2);
		},
	);

	it("R134 no bundle gets the name shell, a native tool does", () => {
		const alone = assemble({ native: [], reserved: [], plugins: [bundleOf("acme.a", "shell")] });
		expect(alone.tools).toEqual([]);
		expect(alone.drops).toMatchObject([{ name: "shell", keptBy: { origin: "reserved" }, rule: "R134" }]);
		const beside = assemble({ native: [aTool("shell")], reserved: [], plugins: [bundleOf("acme.a", "shell")] });
		expect(beside.tools).toMatchObject([{ name: "shell", origin: "native" }]);
		expect(beside.drops).toMatchObject([{ keptBy: { origin: "native" }, rule: "R134" }]);
	});

	it("takes a bundle's tool for the bundle's, whatever the tool says of itself", () => {
		const { tools } = assemble({
			native: [],
			reserved: [],
			plugins: [{ bundle: "acme.a", tools: [aTool("posing"), aTool("other", { bundle: "acme.b" })] }],
		});
		expect(tools).toMatchObject([
			{ name: "other", origin: "plugin", bundle: "acme.a" },
			{ name: "posing", origin: "plugin", bundle: "acme.a" },
		]);
	});
});

describe("drops", () => {
	it("R82 logs one warning for each, and none again", () => {
		const lines: object[] = [];
		const log = createDropLog({ warn: (fields: object) => void lines.push(fields) });
		const { drops } = assemble({
			native: [aTool("x")],
			reserved: [],
			plugins: [bundleOf("b", "x", "shell"), bundleOf("a", "x")],
		});
		log(drops);
		log(drops);
		expect(lines).toEqual([
			{ tool: "shell", origin: "plugin", bundle: "b", keptBy: { origin: "reserved" }, rule: "R134" },
			{ tool: "x", origin: "plugin", bundle: "a", keptBy: { origin: "native" }, rule: "R80" },
			{ tool: "x", origin: "plugin", bundle: "b", keptBy: { origin: "native" }, rule: "R80" },
		]);
	});
});

describe("for any set of tools", () => {
	const name = fc.oneof(
		fc.constantFrom("a", "b", "c", "A", "shell", "mcp_prompts", "bad name"),
		fc.string({ maxLength: 4 }),
	);
	const names = fc.array(name, { maxLength: 6 });
	const set = fc.record({
		native: names,
		reserved: names,
		plugins: fc.uniqueArray(fc.record({ bundle: fc.constantFrom("a", "b", "b-c", "b.c", "z"), names }), {
			selector: (each) => each.bundle,
		}),
	});

	it("R81 the order in which bundles were loaded changes nothing", () => {
		fc.assert(
			fc.property(
				set.chain((each) =>
					fc.tuple(fc.constant(each), fc.shuffledSubarray(each.plugins, { minLength: each.plugins.length })),
				),
				([each, shuffled]) => {
					const build = (plugins: typeof each.plugins): ReturnType<typeof assemble> =>
						assemble({
							native: each.native.map((tool) => aTool(tool)),
							reserved: each.reserved.map((reserved) => ({ name: reserved, by: "test" })),
							plugins: plugins.map((plugin) => bundleOf(plugin.bundle, ...plugin.names)),
						});
					expect(build(shuffled)).toEqual(build(each.plugins));
				},
			),
			{ numRuns: 300 },
		);
	});

	it("R81 R82 each name has one tool, and each tool is kept or dropped", () => {
		fc.assert(
			fc.property(set, (each) => {
				const { tools, drops } = assemble({
					native: each.native.map((tool) => aTool(tool)),
					reserved: each.reserved.map((reserved) => ({ name: reserved, by: "test" })),
					plugins: each.plugins.map((plugin) => bundleOf(plugin.bundle, ...plugin.names)),
				});
				const offered = each.native.length + each.plugins.reduce((sum, plugin) => sum + plugin.names.length, 0);
				expect(new Set(tools.map((tool) => tool.name)).size).toBe(tools.length);
				expect(tools.length + drops.length).toBe(offered);
				for (const tool of tools) {
					expect(tool.name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
					if (tool.origin === "plugin") expect([...each.reserved, ...each.native, "shell"]).not.toContain(tool.name);
				}
			}),
			{ numRuns: 300 },
		);
	});
});
