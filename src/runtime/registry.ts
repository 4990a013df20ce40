import type { Manifest } from "@mortise/sdk/contract";
import type { LoadedPlugin, LoadedSet, PlannedTool } from "../contract/index.js";
import { type Assembled, assemble } from "../tools/index.js";

/** The one registry of a loaded set: native tools, reserved names, then the bundles' tools. */
export function registryOf(set: LoadedSet, native: readonly PlannedTool[]): Assembled {
	return assemble({
		native,
		reserved: [],
		plugins: set.plugins.map((plugin) => ({ bundle: plugin.bundle.manifest.id, tools: toolsOf(plugin) })),
	});
}

/** A bundle's tools as a turn knows them. */
export function toolsOf({ bundle }: Pick<LoadedPlugin, "bundle">): readonly PlannedTool[] {
	const { id, provides } = bundle.manifest;
	return (provides.tools ?? []).map((tool) => ({
		origin: "plugin",
		bundle: id,
		name: tool.name,
		description: tool.description,
		input: inputOf(tool),
		...(tool.output === undefined ? {} : { output: tool.output }),
		effects: tool.effects ?? [],
	}));
}

type ManifestTool = NonNullable<Manifest["provides"]["tools"]>[number];

/** A plain export takes a text, or any JSON object, when its manifest gives no schema. */
function inputOf(tool: ManifestTool): PlannedTool["input"] {
	if (typeof tool.input === "object") return tool.input;
	if (tool.input === "text") {
		return {
			type: "object",
			properties: { text: { type: "string" } },
			required: ["text"],
			additionalProperties: false,
		};
	}
	return { type: "object" };
}
