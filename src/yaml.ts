import {
	isMap,
	isPair,
	isScalar,
	isSeq,
	LineCounter,
	type Node,
	type ParsedNode,
	parseDocument,
	stringify,
} from "yaml";
import type { z } from "zod";
import type { Problem } from "./contract/index.js";
import { escapeText, problemOf } from "./errors.js";

/** The largest YAML or JSON file that is read, in bytes. */
export const maxDocumentBytes = 256 * 1024;
const maxAliasCount = 20;
const maxDepth = 64;

/** A document with places: `value` is plain data, `at` gives the place of a path. */
export type PlacedDocument = {
	readonly file: string;
	readonly value: unknown;
	/** The place of the value at a path, or of the key when `key` is set; falls back to the nearest parent. */
	readonly at: (path: readonly (string | number)[], key?: boolean) => { line: number; column: number };
};
export type Read<T> =
	| { readonly ok: true; readonly value: T }
	| { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads YAML 1.2 (core schema) or JSON, whose syntax YAML contains. Refused: tags, duplicate keys, more than a few
 * aliases, `__proto__` keys, more than one document, files past {@link maxDocumentBytes}, nesting past 64.
 * Never throws; every problem comes with its place. `document` is given with the problems when something could be read,
 * so that a caller can check the rest too.
 */
export function readYaml(
	text: string | Uint8Array,
	file: string,
): { readonly document?: PlacedDocument; readonly problems: readonly Problem[] } {
	const bytes = typeof text === "string" ? Buffer.byteLength(text) : text.byteLength;
	if (bytes > maxDocumentBytes)
		return { problems: [problemOf("yaml.too_large", { file }, { maxBytes: maxDocumentBytes })] };
	let source: string;
	try {
		source = typeof text === "string" ? text : new TextDecoder("utf-8", { fatal: true }).decode(text);
	} catch {
		return { problems: [problemOf("yaml.syntax", { file, line: 1, column: 1 }, { detail: "the file is not UTF-8" })] };
	}
	const lines = new LineCounter();
	const place = (offset: number) => {
		const { line, col } = lines.linePos(offset);
		return { line: Math.max(line, 1), column: Math.max(col, 1) };
	};
	const parsed = parseDocument(source, {
		lineCounter: lines,
		schema: "core",
		version: "1.2",
		uniqueKeys: true,
		prettyErrors: false,
	});
	const problems: Problem[] = [...parsed.errors, ...parsed.warnings].map((error) =>
		problemOf("yaml.syntax", { file, ...place(error.pos[0]) }, { detail: firstLine(error.message) }),
	);
	const root = parsed.contents as ParsedNode | null;
	const shape = inspect(root, []);
	for (const found of shape.problems) {
		problems.push(
			problemOf(
				"yaml.syntax",
				{ file, ...place(found.offset), pointer: pointerOf(found.path) },
				{ detail: found.detail },
			),
		);
	}
	if (shape.fatal || parsed.errors.some((error) => error.code !== "DUPLICATE_KEY")) return { problems };
	let value: unknown;
	try {
		value = parsed.toJS({ maxAliasCount });
	} catch (error) {
		const detail = error instanceof Error ? firstLine(error.message) : "it cannot be read";
		return { problems: [...problems, problemOf("yaml.syntax", { file, line: 1, column: 1 }, { detail })] };
	}
	const at = (path: readonly (string | number)[], key = false) => place(offsetOf(root, path, key));
	return { document: { file, value, at }, problems };
}

/**
 * Checks a document against a schema and gives every problem with its place. A zod issue becomes one problem, an issue
 * over several unknown keys one problem a key.
 */
export function checkDocument<T>(
	document: PlacedDocument,
	schema: z.ZodType<T>,
	code: Parameters<typeof problemOf>[0],
): Read<T> {
	const result = schema.safeParse(document.value);
	if (result.success) return { ok: true, value: result.data };
	return { ok: false, problems: result.error.issues.flatMap((issue) => problemsOf(document, issue, code)) };
}

/** A JSON pointer (RFC 6901). */
export function pointerOf(path: readonly (string | number)[]): string {
	return path.map((part) => `/${String(part).replace(/~/g, "~0").replace(/\//g, "~1")}`).join("");
}

/** Plain data as YAML, keys in the order given. */
export function writeYaml(value: unknown): string {
	return stringify(value, { lineWidth: 0 });
}

type Issue = z.core.$ZodIssue;

function problemsOf(document: PlacedDocument, issue: Issue, code: Parameters<typeof problemOf>[0]): Problem[] {
	const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
	if (issue.code === "unrecognized_keys") {
		return issue.keys.map((key) => {
			const whole = [...path, key];
			const place = { file: document.file, ...document.at(whole, true), pointer: pointerOf(whole) };
			return problemOf(code, place, { detail: `unknown key "${escapeText(key)}"` });
		});
	}
	if (issue.code === "invalid_union") {
		const best = bestBranch(issue);
		if (best !== undefined)
			return best.flatMap((inner) => problemsOf(document, { ...inner, path: [...issue.path, ...inner.path] }, code));
	}
	if (issue.code === "invalid_key" || issue.code === "invalid_element") {
		const inner = issue.issues.map((each) => each.message).join("; ");
		const place = { file: document.file, ...document.at(path, true), pointer: pointerOf(path) };
		return [problemOf(code, place, { detail: `"${escapeText(String(path.at(-1) ?? ""))}": ${inner}` })];
	}
	const missing = issue.code === "invalid_type" && !has(document.value, path);
	const name = path.length === 0 ? "" : `${escapeText(path.join("."))}: `;
	const place = { file: document.file, ...document.at(path), pointer: pointerOf(path) };
	return [problemOf(code, place, { detail: missing ? `${name}is missing` : `${name}${firstLine(issue.message)}` })];
}

/** Of a union's branches, the one that went furthest in: a wrong value inside an object beats "not a string". */
function bestBranch(issue: Issue & { code: "invalid_union" }): Issue[] | undefined {
	const deep = issue.errors.filter((branch) =>
		branch.some((inner) => inner.path.length > 0 || inner.code === "unrecognized_keys"),
	);
	return deep.length === 1 ? deep[0] : issue.errors.length === 1 ? issue.errors[0] : undefined;
}

type Found = { readonly offset: number; readonly path: readonly (string | number)[]; readonly detail: string };

function inspect(root: ParsedNode | null, base: readonly (string | number)[]): { problems: Found[]; fatal: boolean } {
	const problems: Found[] = [];
	let fatal = false;
	const visit = (node: Node | null | undefined, path: readonly (string | number)[]): void => {
		if (node === null || node === undefined) return;
		const offset = node.range?.[0] ?? 0;
		if (path.length > maxDepth) {
			fatal = true;
			problems.push({ offset, path, detail: `nested deeper than ${maxDepth}` });
			return;
		}
		if ("tag" in node && node.tag !== undefined && !String(node.tag).startsWith("tag:yaml.org,2002:")) {
			problems.push({ offset, path, detail: `the tag ${String(node.tag)} is not allowed` });
		}
		if (isSeq(node)) {
			for (const [index, item] of node.items.entries()) visit(item as Node, [...path, index]);
		} else if (isMap(node)) {
			for (const pair of node.items) {
				if (!isPair(pair) || !isScalar(pair.key)) {
					problems.push({ offset, path, detail: "a key must be plain text" });
					fatal = true;
					continue;
				}
				const key = String(pair.key.value);
				if (key === "__proto__") {
					problems.push({
						offset: pair.key.range?.[0] ?? offset,
						path: [...path, key],
						detail: 'the key "__proto__" is not allowed',
					});
					fatal = true;
				}
				visit(pair.value as Node | null, [...path, key]);
			}
		}
	};
	visit(root, base);
	return { problems, fatal };
}

function offsetOf(root: ParsedNode | null, path: readonly (string | number)[], key: boolean): number {
	let node: unknown = root;
	let offset = root?.range?.[0] ?? 0;
	for (const [index, part] of path.entries()) {
		const last = index === path.length - 1;
		if (isMap(node)) {
			const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(part));
			if (pair === undefined) return offset;
			const keyOffset = isScalar(pair.key) ? (pair.key.range?.[0] ?? offset) : offset;
			const value = pair.value as Node | null;
			offset = last && key ? keyOffset : (value?.range?.[0] ?? keyOffset);
			node = value;
		} else if (isSeq(node)) {
			const item = node.items[Number(part)] as Node | undefined;
			if (item === undefined) return offset;
			offset = item.range?.[0] ?? offset;
			node = item;
		} else return offset;
	}
	return offset;
}

function has(value: unknown, path: readonly (string | number)[]): boolean {
	let here: unknown = value;
	for (const part of path) {
		if (typeof here !== "object" || here === null || !Object.hasOwn(here, part)) return false;
		here = (here as Record<string | number, unknown>)[part];
	}
	return true;
}

function firstLine(message: string): string {
	return message.split("\n", 1)[0] ?? message;
}
