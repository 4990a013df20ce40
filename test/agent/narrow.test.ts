import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { allowsTool, isRepositoryAllowed, type Repository, resolveAgent } from "../../src/agent/index.js";
import { type Config, compareIsolation, isolationProfiles } from "../../src/contract/index.js";
import { embeddedConfig } from "../../src/embedded-config.js";
import { aRepository } from "./builders.js";

const folder = "/srv/mortise";
const resolveWith = (config: Config, wishes: Partial<Repository> = {}) =>
	resolveAgent({ config, folder, repository: aRepository(wishes) });

describe("resolveAgent for a repository", () => {
	it("gives what the embedded default allows when nothing is asked", () => {
		const { spec, failures, narrowed } = resolveWith(embeddedConfig);
		expect(failures).toEqual([]);
		expect(narrowed).toEqual([]);
		expect(spec).toMatchObject({
			origin: "repository",
			name: "one",
			provider: { name: "offline", config: {} },
			memory: { name: "sqlite", asked: false },
			tools: { deny: [], asked: [] },
			policy: { autonomy: "supervised", alwaysAsk: [] },
			isolation: "wasm",
			limits: { turns: 100, iterations: 10, timeoutMs: 60_000 },
		});
		expect(spec?.tools.allow).toBeUndefined();
	});

	it("lists every wish beyond the operator's bounds at once", () => {
		const config: Config = {
			repositories: {
				allow: ["elsewhere/*"],
				defaults: {
					provider: { name: "acme", model: "small" },
					tools: { allow: ["upper", "lower"], deny: ["lower"] },
					secrets: ["A"],
					state: { target: "file" },
				},
			},
		};
		const { failures, spec } = resolveWith(config, {
			request: { provider: { name: "acme", model: "huge" }, tools: ["upper", "lower", "shell"], memory: "sqlite" },
			secrets: ["A", "B", "C"],
			state: { target: "control-process" },
		});
		expect(failures.map((failure) => failure.rule)).toEqual([
			"repository",
			"provider",
			"tools",
			"memory",
			"secrets",
			"state_publication",
		]);
		expect(failures.find((failure) => failure.rule === "tools")?.message).toContain("lower, shell");
		expect(spec?.tools).toEqual({ allow: ["upper"], deny: ["lower"], asked: ["upper"] });
		expect(spec?.provider).toMatchObject({ name: "acme", model: "small" });
		expect(spec?.secrets).toEqual(["A"]);
	});

	it("gives no tool for an empty list", () => {
		const { spec } = resolveWith(embeddedConfig, { request: { tools: [] } });
		expect(spec?.tools.allow).toEqual([]);
	});

	it("cuts numbers to the operator's and says so", () => {
		const { spec, failures, narrowed } = resolveWith(embeddedConfig, {
			request: { limits: { iterations: 1000, turns: 5, timeout: "9999999m" } },
		});
		expect(failures).toEqual([]);
		expect(spec?.limits).toEqual({ turns: 5, iterations: 10, timeoutMs: 60_000 });
		expect(narrowed.map((each) => each.setting)).toEqual(["limits.iterations", "limits.timeout"]);
	});

	it("lets a repository choose any provider only when the operator names none", () => {
		const any = resolveWith(
			{ repositories: { defaults: {} } },
			{ request: { provider: { name: "acme", model: "m" } } },
		);
		expect(any.spec?.provider).toEqual({ name: "acme", model: "m", config: {} });
		expect(any.failures).toEqual([]);
		const listed = { repositories: { defaults: { providers: ["a", "b"] } } };
		expect(resolveWith(listed, { request: { provider: "b" } }).failures).toEqual([]);
		expect(resolveWith(listed, { request: { provider: "offline" } }).failures[0]?.rule).toBe("provider");
		expect(resolveWith(listed).spec?.provider.name).toBe("a");
		expect(resolveWith({ repositories: { defaults: { providers: [] } } }).failures[0]?.rule).toBe("provider");
	});

	it("gives the operator's provider settings only to the operator's provider", () => {
		const config: Config = {
			repositories: { defaults: { provider: { name: "acme", base_url: "https://x.test" }, providers: ["other"] } },
		};
		expect(resolveWith(config, { request: { provider: "acme" } }).spec?.provider.config).toEqual({
			base_url: "https://x.test",
		});
		expect(resolveWith(config, { request: { provider: "other" } }).spec?.provider.config).toEqual({});
	});

	it("takes the higher of the two isolation floors", () => {
		const config: Config = { repositories: { defaults: { isolation: "wasm" } } };
		expect(resolveWith(config, { isolation: "in-process" }).spec?.isolation).toBe("wasm");
		expect(resolveWith(config, { isolation: "container" }).spec?.isolation).toBe("container");
	});

	it("never gives a repository the key of a configured agent", () => {
		const key = resolveWith(embeddedConfig, { path: "/srv/agents/assistant" }).spec?.key ?? "";
		expect(key).toMatch(/^repo:[0-9a-f]{32}$/);
		expect(resolveWith(embeddedConfig, { path: "/srv/agents/two" }).spec?.key).not.toBe(key);
	});

	it("puts the operator's instructions before the repository's", () => {
		const config: Config = { repositories: { defaults: { instructions: "Be kind." } } };
		expect(resolveWith(config, { instructions: "Be bold." }).spec?.instructions).toEqual([
			{ from: "operator", text: "Be kind." },
			{ from: "repository", text: "Be bold." },
		]);
	});

	it("never exceeds the operator's allowance, whatever is asked", () => {
		const name = fc.constantFrom<string>("a", "b", "c", "d");
		const names = fc.option(fc.uniqueArray(name), { nil: undefined });
		const limits = fc.record(
			{ turns: fc.integer({ min: 1, max: 200 }), iterations: fc.integer({ min: 1, max: 200 }) },
			{ requiredKeys: [] },
		);
		const profile = fc.constantFrom(...isolationProfiles);
		const present = <T extends object>(value: T): T =>
			Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;
		const operator = fc.record({
			allow: names,
			deny: names,
			memory: fc.option(name, { nil: undefined }),
			provider: fc.option(name, { nil: undefined }),
			providers: names,
			secrets: names,
			isolation: profile,
			limits,
		});
		const asked = fc.record({
			tools: names,
			memory: fc.option(name, { nil: undefined }),
			provider: fc.option(name, { nil: undefined }),
			secrets: fc.uniqueArray(name),
			isolation: profile,
			limits,
		});
		fc.assert(
			fc.property(operator, asked, (own, wish) => {
				const { allow, deny, ...rest } = own;
				const defaults = present({ ...rest, tools: present({ allow, deny }) });
				const config = { repositories: { defaults } } as Config;
				const { tools, memory, provider, limits: wished } = wish;
				const { spec, failures } = resolveWith(config, {
					request: present({ tools, memory, provider, limits: wished }) as Repository["request"],
					secrets: wish.secrets,
					isolation: wish.isolation,
				});
				if (spec === undefined) throw new Error("a repository always has a spec");
				for (const tool of ["a", "b", "c", "d", "e"]) {
					const mayHave = (allow?.includes(tool) ?? true) && !(deny ?? []).includes(tool);
					const wants = tools?.includes(tool) ?? true;
					expect(allowsTool(spec.tools, tool)).toBe(mayHave && wants);
					if (tools?.includes(tool) && !mayHave) expect(failures.some((each) => each.rule === "tools")).toBe(true);
				}
				if (spec.memory !== undefined) expect(spec.memory.name).toBe(own.memory);
				for (const secret of spec.secrets) expect(own.secrets?.includes(secret) ?? true).toBe(true);
				const providers = [own.provider, ...(own.providers ?? [])];
				const anyProvider = own.provider === undefined && own.providers === undefined;
				if (!anyProvider && !failures.some((each) => each.rule === "provider")) {
					expect(providers).toContain(spec.provider.name);
				}
				expect(spec.limits.iterations).toBeLessThanOrEqual(own.limits.iterations ?? 10);
				expect(spec.limits.turns).toBeLessThanOrEqual(own.limits.turns ?? 100);
				for (const floor of [own.isolation, wish.isolation]) {
					expect(compareIsolation(spec.isolation ?? "in-process", floor)).toBeGreaterThanOrEqual(0);
				}
			}),
			{ numRuns: 500 },
		);
	});
});

describe("resolveAgent for an alias", () => {
	it("takes the operator's settings as they stand", () => {
		const config: Config = {
			agents: {
				helper: {
					provider: { name: "acme", model: "m", base_url: "https://x.test" },
					tools: { allow: ["upper"], deny: ["lower"] },
					policy: { workspace: "work" },
					state: { target: "file", path: "out/state.json" },
					limits: { timeout: "2m", iterations: 900 },
				},
			},
		};
		const { spec, failures } = resolveAgent({ config, folder, alias: "helper" });
		expect(failures).toEqual([]);
		expect(spec).toMatchObject({
			key: "helper",
			provider: { name: "acme", model: "m", config: { base_url: "https://x.test" } },
			tools: { allow: ["upper"], deny: ["lower"], asked: ["upper"] },
			policy: { workspace: "/srv/mortise/work" },
			state: { target: "file", path: "/srv/mortise/out/state.json" },
			limits: { iterations: 900, timeoutMs: 120_000 },
		});
		expect(spec?.memory).toBeUndefined();
	});

	it("refuses an alias that is not configured, also one every object has", () => {
		for (const alias of ["nobody", "constructor", "__proto__"]) {
			const { spec, failures } = resolveAgent({ config: embeddedConfig, folder, alias });
			expect(spec).toBeUndefined();
			expect(failures.map((failure) => failure.rule)).toEqual(["agent"]);
		}
	});
});

describe("isRepositoryAllowed", () => {
	const allowed = (allow: string[] | undefined, path: string) =>
		isRepositoryAllowed({ repositories: allow === undefined ? {} : { allow } }, folder, path);

	it("lets any repository run when the operator lists none, and none for an empty list", () => {
		expect(allowed(undefined, "/anywhere")).toBe(true);
		expect(allowed([], "/anywhere")).toBe(false);
	});

	it("matches patterns from the configuration's folder, part by part", () => {
		expect(allowed(["../agents/*"], "/srv/agents/one")).toBe(true);
		expect(allowed(["../agents/*"], "/srv/agents/one/deep")).toBe(false);
		expect(allowed(["../agents/*"], "/srv/agents")).toBe(false);
		expect(allowed(["../agents/*"], "/srv/agents-evil/one")).toBe(false);
		expect(allowed(["../agents/**"], "/srv/agents/one/deep")).toBe(true);
		expect(allowed(["/srv/**/bot-*-x"], "/srv/a/b/bot-1-x")).toBe(true);
		expect(allowed(["/srv/**/bot-*-x"], "/srv/bot-x")).toBe(false);
		expect(allowed(["/srv/one"], "/srv/one")).toBe(true);
		expect(allowed(["/srv/o.e"], "/srv/one")).toBe(false);
	});

	it("answers soon on a name made to make patterns slow", () => {
		const part = "a".repeat(250);
		expect(allowed([`/${"*a".repeat(60)}b`], `/${part}`)).toBe(false);
		expect(allowed([`/${"**/a*/".repeat(20)}b`], `/${Array(60).fill(part).join("/")}`)).toBe(false);
	});
});
