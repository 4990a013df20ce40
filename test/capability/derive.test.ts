import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
	type DocumentInput,
	deriveDocument,
	diffDocuments,
	diffLines,
	documentBytes,
	etagOf,
	matchDocument,
} from "../../src/capability/index.js";
import { RuntimeDocument } from "../../src/contract/index.js";
import { readYaml } from "../../src/yaml.js";
import { anInput, aPlugin } from "./builders.js";

const capabilities = (change: Partial<DocumentInput["set"]>, tools: DocumentInput["tools"] = []) =>
	deriveDocument({
		...anInput(),
		tools,
		set: { plugins: [], nativeMemory: [], nativeStateTargets: ["file"], ...change },
	}).agent_capabilities;

describe("what is loaded makes the document", () => {
	it("C10 each capability follows from a source, and is gone with it", () => {
		expect(capabilities({})).toEqual(["publish_state"]);
		expect(capabilities({ plugins: [aPlugin({ provides: { providers: [{ name: "p" }] } })] })).toContain("run_tasks");
		expect(capabilities({ plugins: [aPlugin({ provides: { memory: [{ name: "m" }] } })] })).toContain("remember");
		expect(capabilities({ plugins: [aPlugin({ provides: { channels: [{ name: "c" }] } })] })).toContain("converse");
		expect(capabilities({ nativeMemory: ["sqlite"] })).toContain("remember");
		expect(capabilities({}, [{ name: "upper", origin: "native" }])).toContain("use_tools");
		expect(capabilities({ plugins: [aPlugin({ provides: { agent_capabilities: ["plan_trips"] } })] })).toEqual([
			"plan_trips",
			"publish_state",
		]);
	});

	it("C10 removing the last memory source removes remember", () => {
		const notes = aPlugin({ id: "kv-notes", provides: { memory: [{ name: "kv-notes" }] } });
		expect(capabilities({ plugins: [notes], nativeMemory: ["sqlite"] })).toContain("remember");
		expect(capabilities({ plugins: [notes] })).toContain("remember");
		expect(capabilities({ plugins: [] })).not.toContain("remember");
	});

	it("C10 a bundle cannot claim a capability that only a source brings", () => {
		const liar = aPlugin({
			provides: { agent_capabilities: ["remember", "run_tasks", "converse", "use_tools", "plan"] },
		});
		expect(capabilities({ plugins: [liar] })).toEqual(["plan", "publish_state"]);
	});

	it("C10 a tool that lost its name brings no use_tools", () => {
		const plugin = aPlugin({ provides: { tools: [{ name: "upper", description: "x" }] } });
		expect(capabilities({ plugins: [plugin] }, [])).not.toContain("use_tools");
	});

	it("C10 only profiles that a probe showed are in it", () => {
		const input = anInput();
		const document = deriveDocument({
			...input,
			isolation: input.isolation.map((each) => ({ ...each, provided: each.profile === "wasm", reason: "/usr/bin/x" })),
		});
		expect(document.isolation_profiles).toEqual(["wasm"]);
		expect(JSON.stringify(document)).not.toContain("sandbox-process");
		expect(JSON.stringify(document)).not.toContain("/usr/bin/x");
	});

	it("C2 C10 a set that makes no valid document is refused, not published", () => {
		const code = (change: Partial<DocumentInput>) => {
			try {
				deriveDocument({ ...anInput(), ...change });
				return undefined;
			} catch (error) {
				return (error as { code?: string }).code;
			}
		};
		expect(code({ isolation: [] })).toBe("document.underivable");
		expect(code({ protocolVersions: [] })).toBe("document.underivable");
		expect(code({ set: { plugins: [], nativeMemory: [], nativeStateTargets: [] } })).toBe("document.underivable");
	});

	it("C11 lists sources, tools, dropped tools and isolation, each with its bundle", () => {
		const document = deriveDocument(anInput());
		expect(document["x-sources"]).toContainEqual({
			kind: "tool",
			name: "acme.text",
			origin: "plugin",
			bundle: "acme.text",
			version: "1.0.0",
			runtime: "wasm",
			digest: `sha256:${"0".repeat(64)}`,
			isolation: "wasm",
			signer: null,
		});
		expect(document["x-tools"]).toContainEqual({ name: "upper", origin: "plugin", bundle: "acme.text" });
	});

	it("R82 C11 dropped tools are data in the document: name, origin and what kept the name", () => {
		expect(deriveDocument(anInput())["x-dropped-tools"]).toEqual([
			{ name: "memory_store", origin: "plugin", bundle: "acme.text", kept_by: { origin: "native" }, rule: "R69" },
		]);
	});

	it("C11 holds no path, secret, host or config value", () => {
		const text = JSON.stringify(deriveDocument(anInput()));
		for (const hidden of ["canary", "/home/someone", "MODEL_KEY", "api.acme.test"]) expect(text).not.toContain(hidden);
	});

	it("C12 a hundred shuffled load orders give the same bytes", () => {
		const input = anInput();
		const once = documentBytes(deriveDocument(input), "json");
		const onceYaml = documentBytes(deriveDocument(input), "yaml");
		const shuffled = <T>(values: readonly T[]) => fc.shuffledSubarray([...values], { minLength: values.length });
		fc.assert(
			fc.property(
				shuffled(input.set.plugins),
				shuffled(input.tools),
				shuffled(input.isolation),
				shuffled(["v0.9", "v0.10", "v1.0"]),
				(plugins, tools, isolation, protocolVersions) => {
					const document = deriveDocument({
						...input,
						set: { ...input.set, plugins },
						tools,
						isolation,
						protocolVersions,
					});
					expect(documentBytes(document, "json")).toEqual(once);
					expect(documentBytes(document, "yaml")).toEqual(onceYaml);
				},
			),
			{ numRuns: 100 },
		);
	});

	it("C12 every list and every key at any depth is in order", () => {
		const ordered = (value: unknown, place: string): void => {
			if (Array.isArray(value)) {
				const keys = value.map((each) => (typeof each === "string" ? each : (each.name ?? each.profile)));
				if (place !== ".protocol_versions") expect(keys, place).toEqual([...keys].sort());
				for (const each of value) ordered(each, place);
			} else if (typeof value === "object" && value !== null) {
				expect(Object.keys(value), place).toEqual(Object.keys(value).sort());
				for (const [key, each] of Object.entries(value)) ordered(each, `${place}.${key}`);
			}
		};
		const document = JSON.parse(new TextDecoder().decode(documentBytes(deriveDocument(anInput()), "json")));
		ordered(document, "");
		expect(document.protocol_versions).toEqual(["v0.9", "v0.10", "v1.0"]);
	});

	it("C12 the digest of the bytes is the entity tag, and another set has another", () => {
		const input = anInput();
		const tag = etagOf(documentBytes(deriveDocument(input), "json"));
		expect(tag).toMatch(/^"sha256-[0-9a-f]{64}"$/);
		expect(etagOf(documentBytes(deriveDocument({ ...input, name: "other" }), "json"))).not.toBe(tag);
	});

	it("C1 is valid, and says the same in YAML and JSON", () => {
		const document = deriveDocument(anInput());
		expect(RuntimeDocument.safeParse(document).success).toBe(true);
		const yaml = readYaml(documentBytes(document, "yaml"), "runtime.yaml");
		expect(yaml.problems).toEqual([]);
		expect(yaml.document?.value).toEqual(JSON.parse(new TextDecoder().decode(documentBytes(document, "json"))));
	});

	it("C5 is what an agent is matched with", () => {
		const agent = {
			protocol_version: "v0.10.3",
			agent_capabilities: ["run_tasks", "use_tools"],
			isolation_profile: "wasm",
			state_publication: { target: "file" },
		};
		expect(matchDocument(deriveDocument(anInput()), agent)).toEqual({ match: true, failures: [] });
	});

	it("derives a document of 1,000 tools well within a second, the median of nine", () => {
		const tools = Array.from({ length: 1000 }, (_, index) => ({
			name: `tool_${index}`,
			origin: "plugin" as const,
			bundle: "b",
		}));
		const times = Array.from({ length: 9 }, () => {
			const start = performance.now();
			deriveDocument({ ...anInput(), tools });
			return performance.now() - start;
		}).sort((a, b) => a - b);
		expect(times[4]).toBeLessThan(1000);
	});
});

describe("the difference of two documents", () => {
	it("names each member that came or went, whatever the order", () => {
		const input = anInput();
		const a = deriveDocument(input);
		const b = deriveDocument({ ...input, name: "other", set: { ...input.set, nativeMemory: [], plugins: [] } });
		expect(diffDocuments(a, a)).toEqual([]);
		const changes = diffDocuments(a, b);
		expect(changes).toContainEqual({ change: "removed", key: "agent_capabilities", value: "remember" });
		expect(changes).toContainEqual({ change: "changed", key: "runtime", from: "example", to: "other" });
		expect(diffLines(changes)).toContain('- agent_capabilities: "remember"');
		expect(diffLines(diffDocuments(b, a))).toContain('+ agent_capabilities: "remember"');
	});
});
