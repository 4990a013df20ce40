import { readFileSync } from "node:fs";
import { Manifest } from "@mortise/sdk/contract";
import { conformance, conformanceKinds, createTestHost, openInProcess } from "@mortise/sdk/testing";
import { describe, expect, it } from "vitest";
import plugin from "../../examples/first-plugin/src/plugin.js";
import { readYaml } from "../../src/yaml.js";

const file = new URL("../../examples/first-plugin/plugin.yaml", import.meta.url);
const manifest = Manifest.parse(readYaml(readFileSync(file), "plugin.yaml").document?.value);
const opened = openInProcess(plugin, createTestHost({ kv: true }).host);

describe("the plugin of the authors' guide keeps the contract", () => {
	for (const kind of conformanceKinds(manifest)) {
		for (const { title, skip, run } of conformance(kind, manifest)) {
			it.skipIf(skip !== undefined)(skip === undefined ? `${kind}: ${title}` : `${kind}: ${title} (${skip})`, () =>
				run(opened),
			);
		}
	}

	it("provides the three kinds the guide speaks of", () => {
		expect(conformanceKinds(manifest)).toEqual(["tool", "provider", "memory"]);
	});
});
