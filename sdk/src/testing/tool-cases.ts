import type { JsonObject } from "../contract/json.js";
import type { Manifest, ManifestTool } from "../contract/manifest.js";
import { checkJsonSchema } from "../define/json-schema-check.js";
import { type ConformanceCase, expect, fail, succeed, unknownOperation } from "./case.js";
import { memberSchema, misfit, requiredOf, sample } from "./sample.js";

/** Cases for every tool of a bundle. `samples` gives arguments where the schema alone does not tell good ones. */
export function toolCases(
	manifest: Manifest,
	samples: { readonly [tool: string]: JsonObject } = {},
): readonly ConformanceCase[] {
	const tools = manifest.provides.tools ?? [];
	const none = tools.length === 0 ? { skip: "the manifest provides no tools" } : {};
	const plain = tools.some((tool) => tool.export !== undefined)
		? { skip: "the bundle has plain Extism exports, which know no operations" }
		: none;
	return [
		...tools.flatMap((tool) => casesOf(tool, samples[tool.name])),
		{
			id: "tool.not-found",
			title: "a tool that does not exist fails with not_found",
			...plain,
			run: (opened) => fail(opened, "tool.call", { name: "no_such_tool", arguments: {} }, "not_found"),
		},
		{
			id: "tool.malformed-call",
			title: "a call without a name fails with invalid_input",
			...plain,
			run: (opened) => fail(opened, "tool.call", { arguments: {} }, "invalid_input"),
		},
		{ ...unknownOperation("tool", manifest), ...plain },
	];
}

function casesOf(tool: ManifestTool, given: JsonObject | undefined): readonly ConformanceCase[] {
	const { name, input, output } = tool;
	const schema = typeof input === "object" ? input : {};
	const good = given ?? (sample(schema) as JsonObject | undefined) ?? {};
	const required = requiredOf(schema);
	const call = (args: unknown) => ({ name, arguments: args });
	const plain = tool.export === undefined ? {} : { skip: "a plain Extism export checks no arguments" };
	const closed = "additionalProperties" in schema && schema.additionalProperties === false;
	return [
		{
			id: `tool.answers:${name}`,
			title: `${name} answers arguments that fit its schema`,
			async run(opened) {
				const result = await succeed(opened, "tool.call", call(good));
				const said = result.content.length > 0 || result.structured !== undefined;
				expect(said, `${name} should answer with content or a structured result`, result);
				if (output === undefined || result.isError === true) return;
				const [wrong] = checkJsonSchema(output, result.structured, "structured");
				expect(wrong === undefined, `${name} should keep to its output schema: ${wrong?.path} ${wrong?.message}`);
			},
		},
		{
			id: `tool.concurrent:${name}`,
			title: `${name} answers several calls at once`,
			async run(opened) {
				await Promise.all([1, 2, 3].map(() => succeed(opened, "tool.call", call(good))));
			},
		},
		{
			id: `tool.missing-argument:${name}`,
			title: `${name} refuses a call without its required arguments`,
			...(required.length === 0 ? { skip: "it has no required arguments" } : plain),
			run: (opened) => refuse(opened, name, {}),
		},
		{
			id: `tool.wrong-type:${name}`,
			title: `${name} refuses an argument of the wrong type`,
			...(required.length === 0 ? { skip: "it has no required arguments" } : plain),
			async run(opened) {
				for (const argument of required)
					await refuse(opened, name, { ...good, [argument]: misfit(memberSchema(schema, argument)) });
			},
		},
		{
			id: `tool.unknown-argument:${name}`,
			title: `${name} refuses an argument its closed schema does not know`,
			...(closed ? plain : { skip: "its schema is open" }),
			run: (opened) => refuse(opened, name, { ...good, conformance_unknown_argument: 1 }),
		},
	];
}

async function refuse(opened: Parameters<ConformanceCase["run"]>[0], name: string, args: JsonObject): Promise<void> {
	const result = await opened.call("tool.call", { name, arguments: args });
	const isError = result.ok && (result.output as { readonly isError?: unknown } | null)?.isError === true;
	const refused = !result.ok && result.failure.code === "invalid_input";
	expect(isError || refused, `${name} should refuse ${JSON.stringify(args)} with invalid_input or isError`, result);
}
