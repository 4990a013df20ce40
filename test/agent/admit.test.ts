import { describe, expect, it } from "vitest";
import { type AdmitRequest, admitAgent, type Repository, resolveAgent } from "../../src/agent/index.js";
import { matchDocument } from "../../src/capability/index.js";
import type { Config } from "../../src/contract/index.js";
import { embeddedConfig } from "../../src/embedded-config.js";
import { problemOf } from "../../src/errors.js";
import { aDocument, aPlugin, aRepository } from "./builders.js";

const folder = "/srv/mortise";
const offline = aPlugin("mortise.offline", { providers: [{ name: "offline", models: ["offline-1"] }] });

function admitRepository(
	wishes: Partial<Repository> = {},
	changes: Partial<AdmitRequest> = {},
	config: Config = embeddedConfig,
) {
	const repository = aRepository(wishes);
	return admitAgent({
		resolution: resolveAgent({ config, folder, repository }),
		manifest: repository.manifest,
		...surroundings,
		...changes,
	});
}

const surroundings = {
	document: aDocument,
	match: matchDocument,
	hasSecret: () => false,
	plugins: [offline],
	tools: new Set(["upper"]),
	nativeMemory: ["sqlite"],
};
const rulesOf = (admission: ReturnType<typeof admitAgent>) =>
	admission.ok ? [] : admission.failures.map((failure) => failure.rule);

describe("admitAgent", () => {
	it("admits an agent whose wishes are all met, with the provider's bundle and model", () => {
		const admission = admitRepository({ request: { tools: ["upper"] } });
		expect(admission).toMatchObject({
			ok: true,
			provider: { name: "offline", bundle: "mortise.offline", model: "offline-1" },
			spec: { memory: { name: "sqlite" } },
		});
	});

	it("C6: lists in one report every failing rule of the match and everything else that is missing", () => {
		const manifest = {
			protocol_version: "v9.0",
			agent_capabilities: ["fly"],
			isolation_profile: "container",
			state_publication: { target: "acme-bus" },
		};
		const admission = admitRepository(
			{
				manifest,
				isolation: "container",
				state: { target: "acme-bus" },
				secrets: ["MODEL_KEY"],
				request: { provider: "acme", tools: ["nothing"], memory: "notes" },
			},
			{ problems: [problemOf("repository.not_askable", { file: "m.yaml", line: 3, column: 1 }, { key: "home" })] },
		);
		expect(rulesOf(admission)).toEqual([
			"repository",
			"protocol_version",
			"agent_capabilities",
			"isolation_profile",
			"state_publication",
			"memory",
			"provider",
			"tools",
			"secrets",
		]);
	});

	it("C8: names every missing secret and asks for no value", () => {
		const admission = admitRepository(
			{ secrets: ["THERE", "GONE", "LOST"] },
			{ hasSecret: (name) => name === "THERE" },
		);
		expect(admission).toMatchObject({ ok: false, failures: [{ rule: "secrets" }] });
		const message = admission.ok ? "" : (admission.failures[0]?.message ?? "");
		expect(message).toContain("GONE, LOST");
		expect(message).not.toContain("THERE");
	});

	it("does not say whether a secret exists that the operator does not allow", () => {
		const config: Config = { repositories: { defaults: { secrets: [] } } };
		const report = (exists: boolean) => admitRepository({ secrets: ["HIDDEN"] }, { hasSecret: () => exists }, config);
		expect(report(true)).toEqual(report(false));
	});

	it("refuses on the repository's own problems alone, and when it could not be read at all", () => {
		const problems = [problemOf("repository.outside", { file: "m.yaml" }, { path: "../x", detail: "it holds '..'" })];
		expect(rulesOf(admitRepository({}, { problems }))).toEqual(["repository"]);
		expect(rulesOf(admitAgent({ ...surroundings, problems }))).toEqual(["repository"]);
	});

	it("C6: judges a manifest that is no mapping by the match, rather than letting it pass", () => {
		expect(rulesOf(admitRepository({ manifest: undefined }))).toContain("protocol_version");
	});

	it("refuses a plugin whose effective profile this host does not provide", () => {
		const config: Config = { agents: { helper: { isolation: "sandbox-process" } } };
		const resolution = resolveAgent({ config, folder, alias: "helper" });
		expect(rulesOf(admitAgent({ ...surroundings, resolution }))).toEqual(["isolation_profile"]);
		// a bundle the agent does not use has no say
		const plugins = [
			offline,
			aPlugin("x.tools", { tools: [{ name: "spin", description: "x" }] }, { isolation: "container" }),
		];
		const bare = resolveAgent({
			config: { agents: { helper: { tools: { allow: ["upper"] } } } },
			folder,
			alias: "helper",
		});
		expect(admitAgent({ ...surroundings, plugins, resolution: bare }).ok).toBe(true);
		const all = resolveAgent({ config: { agents: { helper: {} } }, folder, alias: "helper" });
		expect(rulesOf(admitAgent({ ...surroundings, plugins, resolution: all }))).toEqual(["isolation_profile"]);
	});

	it("judges an alias by everything but the protocol", () => {
		const config: Config = {
			agents: {
				helper: {
					provider: "acme",
					memory: "notes",
					tools: { allow: ["nothing"] },
					secrets: ["KEY"],
					state: { target: "acme-bus" },
				},
			},
		};
		const resolution = resolveAgent({ config, folder, alias: "helper" });
		expect(rulesOf(admitAgent({ ...surroundings, resolution }))).toEqual([
			"provider",
			"tools",
			"memory",
			"secrets",
			"state_publication",
		]);
	});

	it("goes on without the default memory when it is not loaded, and says so", () => {
		const admission = admitRepository({}, { nativeMemory: [] });
		expect(admission).toMatchObject({ ok: true, narrowed: [{ setting: "memory", given: "none" }] });
		expect(admission.ok && admission.spec.memory).toBeUndefined();
		expect(rulesOf(admitRepository({ request: { memory: "sqlite" } }, { nativeMemory: [] }))).toEqual(["memory"]);
	});

	it("keeps a dropped bundle from taking a first-party provider's name, and does not choose between two others", () => {
		const provides = { providers: [{ name: "offline", models: ["evil"] }] };
		const first = aPlugin("aaa.thief", provides, { origin: "dropped" });
		const second = aPlugin("bbb.thief", provides, { origin: "dropped" });
		expect(admitRepository({}, { plugins: [first, offline] })).toMatchObject({
			provider: { bundle: "mortise.offline" },
		});
		expect(rulesOf(admitRepository({}, { plugins: [first, second] }))).toEqual(["provider"]);
	});

	it("refuses a provider for which nobody names a model", () => {
		const plugins = [aPlugin("acme", { providers: [{ name: "acme" }] })];
		expect(rulesOf(admitRepository({ request: { provider: "acme" } }, { plugins }))).toEqual(["provider"]);
		const named = { request: { provider: { name: "acme", model: "m" } } };
		expect(admitRepository(named, { plugins })).toMatchObject({ ok: true, provider: { model: "m" } });
	});
});
