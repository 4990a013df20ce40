import { basename, dirname } from "node:path";
import { IsolationProfile } from "@mortise/sdk/contract";
import type { z } from "zod";
import { readManifest } from "../bundle/index.js";
import { AgentManifest, Config, type Problem, RuntimeDocument } from "../contract/index.js";
import { escapeText, problemOf } from "../errors.js";
import { compileSchema } from "../json-schema.js";
import { checkDocument, maxDocumentBytes, type PlacedDocument, pointerOf } from "../yaml.js";
import { maxRuntimeDocumentBytes, readBytes, readDocument } from "./read-file.js";

/** What a file is meant to be. */
export type FileKind = "runtime-document" | "agent-manifest" | "plugin" | "config";
export type ValidateOptions = {
	/** Skips the guess from the name and the content. */
	readonly kind?: FileKind;
	/** Warnings count as problems: unknown top-level keys of an agent manifest, values listed twice. */
	readonly strict?: boolean;
};
/** The kind that was taken, absent when it could not be told, and every problem in the order of the file. */
export type Validation = { readonly kind?: FileKind; readonly problems: readonly Problem[] };

const schemas: { readonly [kind in Exclude<FileKind, "plugin">]: z.ZodType } = {
	"runtime-document": RuntimeDocument,
	"agent-manifest": AgentManifest,
	config: Config,
};

/**
 * Checks a file on disk: a capability document, an agent manifest, a `plugin.yaml` or a `mortise.yaml`, told by name, then
 * by content. All problems at once, each with file, line, column, pointer, code and fix. Never rejects. Codes:
 * `file.unreadable`, `yaml.syntax`, `yaml.too_large`, `schema.invalid`, `validate.unknown_kind`, `validate.warning`; and
 * what `readManifest` gives for a `plugin.yaml`, whose schemas are compiled.
 */
export async function validateFile(file: string, options: ValidateOptions = {}): Promise<Validation> {
	const read = await readBytes(file, maxRuntimeDocumentBytes);
	return "problem" in read ? { problems: [read.problem] } : validateBytes(read.bytes, file, options);
}

/** {@link validateFile} on bytes that were read already; `file` is the name shown. */
export function validateBytes(bytes: Uint8Array, file: string, options: ValidateOptions = {}): Validation {
	const named = options.kind ?? kindOfName(file);
	if (named === "plugin") return validateManifest(bytes, file);
	const maxBytes = named === "runtime-document" ? maxRuntimeDocumentBytes : maxDocumentBytes;
	const { document, problems } = readDocument(bytes, file, maxBytes);
	if (document === undefined) return named === undefined ? { problems } : { kind: named, problems };
	const kind = named ?? kindOfContent(document.value);
	if (kind === "plugin") return validateManifest(bytes, file);
	if (kind === undefined) {
		const unknown = problemOf("validate.unknown_kind", { file, line: 1, column: 1 });
		return { problems: [...problems, unknown] };
	}
	const checked = checkDocument(document, schemas[kind], "schema.invalid");
	const found = [...problems, ...(checked.ok ? [] : checked.problems)];
	const warned = options.strict === true ? [...unknownKeys(document, kind), ...repeats(document, kind)] : [];
	return { kind, problems: inOrder([...found, ...warned]) };
}

function validateManifest(bytes: Uint8Array, file: string): Validation {
	return { kind: "plugin", problems: readManifest(bytes, file, compileSchema).problems };
}

/** The kind of a file by its name alone; `undefined` when the name says nothing. */
export function kindOfName(file: string): FileKind | undefined {
	const name = basename(file).toLowerCase();
	if (/^plugin\.ya?ml$/.test(name)) return "plugin";
	if (/^mortise\.(ya?ml|json)$/.test(name)) return "config";
	if (/^(living-repos-)?runtime\.(ya?ml|json)$/.test(name)) return "runtime-document";
	if (/^manifest\.ya?ml$/.test(name) && basename(dirname(file)) === ".living") return "agent-manifest";
	return undefined;
}

const configKeys = ["agents", "grants", "bundles", "repositories", "pool", "server"];

function kindOfContent(value: unknown): FileKind | undefined {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
	const has = (key: string) => Object.hasOwn(value, key);
	if (has("contract") || (has("provides") && has("entry"))) return "plugin";
	if (has("protocol_versions") || has("isolation_profiles")) return "runtime-document";
	if (has("protocol_version") || has("isolation_profile")) return "agent-manifest";
	return configKeys.some(has) ? "config" : undefined;
}

function unknownKeys(document: PlacedDocument, kind: FileKind): Problem[] {
	if (kind !== "agent-manifest") return [];
	return keysOf(document.value)
		.filter((key) => !Object.hasOwn(AgentManifest.shape, key) && !key.startsWith("x-"))
		.map((key) => warning(document, [key], `unknown key "${escapeText(key)}"`, true));
}

const lists = ["protocol_versions", "agent_capabilities", "isolation_profiles", "state_publication_targets", "secrets"];

function repeats(document: PlacedDocument, kind: FileKind): Problem[] {
	if (kind !== "agent-manifest" && kind !== "runtime-document") return [];
	const found = keysOf(document.value)
		.filter((key) => lists.includes(key))
		.flatMap((key) => {
			const values: unknown = (document.value as { readonly [key: string]: unknown })[key];
			if (!Array.isArray(values)) return [];
			return values.flatMap((value, index) => {
				if (typeof value !== "string") return [];
				if (values.indexOf(value) < index)
					return [warning(document, [key, index], `"${escapeText(value)}" is listed twice`)];
				if (key !== "isolation_profiles" || IsolationProfile.safeParse(value).success) return [];
				return [warning(document, [key, index], `"${escapeText(value)}" is no isolation profile that Mortise knows`)];
			});
		});
	return found;
}

function warning(document: PlacedDocument, path: readonly (string | number)[], detail: string, key = false): Problem {
	const place = { file: document.file, ...document.at(path, key), pointer: pointerOf(path) };
	return problemOf("validate.warning", place, { detail });
}

function keysOf(value: unknown): string[] {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? Object.keys(value) : [];
}

function inOrder(problems: readonly Problem[]): readonly Problem[] {
	return [...problems].sort((a, b) => a.line - b.line || a.column - b.column);
}
