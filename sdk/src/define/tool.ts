import { text } from "../contract/content.js";
import type { JsonValue } from "../contract/json.js";
import type { Part } from "../contract/part.js";
import type { ToolCallOutput } from "../contract/tool.js";
import type { Context } from "./context.js";
import { PluginFailure } from "./failure.js";
import { checkJsonSchema } from "./json-schema-check.js";
import { checkStandard, type InputSchema, isStandardSchema, type Misfit, type ValueOf } from "./schema.js";

/**
 * What a tool gives back: a text, a list of parts, `{ structured }` (shown to the model as JSON text when no `content`
 * comes with it), or `failure(message)` for a failure that the model should read and may mend.
 */
export type ToolResult =
	| string
	| readonly Part[]
	| { readonly structured: JsonValue; readonly content?: readonly Part[] | string; readonly isError?: boolean }
	| { readonly content: readonly Part[] | string; readonly isError?: boolean };

/** A tool as `definePlugin` takes it. */
export type Tool = {
	readonly name: string;
	readonly call: (input: unknown, context: Context) => Promise<ToolCallOutput>;
};

/** What `defineTool` takes. Without `input` any object is accepted, as the host has checked it by the manifest. */
export type ToolDefinition<S extends InputSchema> = {
	/** As in the manifest's `provides.tools`. */
	readonly name: string;
	readonly input?: S;
	/** May throw; a `PluginFailure` keeps its code. */
	readonly run: (input: ValueOf<S>, context: Context) => ToolResult | Promise<ToolResult>;
};

/**
 * Defines a tool. Its arguments are checked against `input` before `run` sees them; arguments that do not fit end the
 * call with `invalid_input`, naming each place.
 * @example
 * defineTool({
 *   name: "shout",
 *   input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
 *   run: ({ text }) => `${text}!`,
 * });
 */
export function defineTool<const S extends InputSchema>(definition: ToolDefinition<S>): Tool {
	const { name, input: schema, run } = definition;
	return {
		name,
		async call(input, context) {
			const checked = await fit(schema, input);
			return outputOf(name, await run(checked as ValueOf<S>, context));
		},
	};
}

/** A result that tells the model the tool did not succeed. */
export function failure(message: string | readonly Part[]): ToolResult {
	return { content: message, isError: true };
}

/** Ends with `invalid_input`, naming every misfit, when there is one. */
export function refuseMisfits(misfits: readonly Misfit[]): void {
	if (misfits.length === 0) return;
	throw new PluginFailure(
		"invalid_input",
		misfits.map(({ path, message }) => `${path === "" ? "the input" : path} ${message}`).join("; "),
	);
}

async function fit(schema: InputSchema | undefined, input: unknown): Promise<unknown> {
	if (schema === undefined) return input;
	if (!isStandardSchema(schema)) {
		refuseMisfits(checkJsonSchema(schema, input, "arguments"));
		return input;
	}
	const { value, misfits } = await checkStandard(schema, input, "arguments");
	refuseMisfits(misfits);
	return value;
}

function outputOf(name: string, result: ToolResult): ToolCallOutput {
	if (typeof result === "string") return { content: text(result) };
	if (Array.isArray(result)) return { content: [...result] };
	if (typeof result !== "object" || result === null)
		throw new PluginFailure("internal", `the tool ${name} gave back ${result === null ? "null" : typeof result}`);
	const { content, isError } = result as { content?: readonly Part[] | string; isError?: boolean };
	const structured = "structured" in result ? result.structured : undefined;
	if (content === undefined && structured === undefined)
		throw new PluginFailure("internal", `the tool ${name} gave back neither content nor a structured result`);
	return {
		content: content === undefined ? text(JSON.stringify(structured)) : partsOf(content),
		...(structured === undefined ? {} : { structured: structured as Exclude<ToolCallOutput["structured"], undefined> }),
		...(isError === true ? { isError } : {}),
	};
}

function partsOf(content: readonly Part[] | string): Part[] {
	return typeof content === "string" ? text(content) : [...content];
}
