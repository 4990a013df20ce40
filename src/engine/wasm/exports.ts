// Runs in: worker.
import { type Part, ToolCallInput, text } from "@mortise/sdk/contract";
import { type ReadAnswer, readAnswer } from "../answer.js";
import { preparedExport } from "./link-names.js";

/** An exported function that takes nothing, by the name its author gave it; nothing when there is none. */
export function findExport(instance: WebAssembly.Instance, name: string): (() => unknown) | undefined {
	const prepared = preparedExport(name);
	const found = Object.hasOwn(instance.exports, prepared) ? instance.exports[prepared] : undefined;
	return typeof found === "function" && found.length === 0 ? () => found() : undefined;
}

/**
 * The input of a plain Extism export, from the input of a `tool.call`: the `text` of its arguments, or all of them as
 * JSON. Nothing when they do not fit.
 */
export function readExportInput(input: unknown, kind: "text" | "json"): Uint8Array | undefined {
	const parsed = ToolCallInput.safeParse(input);
	if (!parsed.success) return undefined;
	const args = parsed.data.arguments;
	if (kind === "json") return new TextEncoder().encode(JSON.stringify(args));
	return typeof args.text === "string" ? new TextEncoder().encode(args.text) : undefined;
}

/**
 * What a plain export gave, as the output of a `tool.call`: one text part, or no part when it set no output. With
 * `json`, output that is JSON is given as `structured` too. Bytes that are no UTF-8 are `plugin.bad_answer`.
 */
export function readExportOutput(output: Uint8Array | undefined, kind: "text" | "json"): ReadAnswer {
	if (output === undefined) return readAnswer({ ok: true, output: { content: [] } }, "tool.call");
	let content: Part[];
	try {
		content = text(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(output));
	} catch {
		// no answer in any shape: read as one, it is refused as one
		return readAnswer(undefined, "tool.call");
	}
	const structured = kind === "json" ? parsedJson(content) : {};
	return readAnswer({ ok: true, output: { content, ...structured } }, "tool.call");
}

function parsedJson(content: readonly Part[]): { readonly structured?: unknown } {
	try {
		const [part] = content;
		return part?.type === "text" ? { structured: JSON.parse(part.text) } : {};
	} catch {
		return {};
	}
}
