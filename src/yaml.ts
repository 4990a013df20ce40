import {
	Composer,
	type CST,
	type Document,
	isAlias,
	isMap,
	isPair,
	isScalar,
	isSeq,
	Lexer,
	LineCounter,
	type Node,
	Parser,
	stringify,
} from "yaml";
import type { z } from "zod";
import type { Problem } from "./contract/index.js";
import { type ErrorCode, type ErrorFields, problemOf } from "./errors.js";
import { checkValue } from "./schema-check.js";

/** The largest YAML or JSON file that is read, in bytes. */
export const maxDocumentBytes = 256 * 1024;
const maxDepth = 64;
const maxAliases = 20;
/** Nodes that aliases may stand for, all together. */
const maxAliasedNodes = 10_000;
/** Past this many problems of one kind a file is not worth reading on. */
const maxProblems = 100;
/** Words, marks, spaces and line ends of a file; what is made of them at the end is made in one go. */
const maxLexemes = 120_000;
const lexemesAStep = 500;

type Path = readonly (string | number)[];
type Place = { readonly line: number; readonly column: number };

/** A document with places: `value` is plain data, `at` gives the place of a path. */
export type PlacedDocument = {
	readonly file: string;
	readonly value: unknown;
	/** The place of the value at a path, or of the key when `key` is set; falls back to the nearest parent. */
	readonly at: (path: Path, key?: boolean) => Place;
};
export type Read<T> =
	| { readonly ok: true; readonly value: T }
	| { readonly ok: false; readonly problems: readonly Problem[] };
/** What came of a YAML file. `document` is given with the problems when something could be read. */
export type YamlRead = { readonly document?: PlacedDocument; readonly problems: readonly Problem[] };

/**
 * Reads YAML 1.2 (core schema) or JSON, whose syntax YAML contains. Refused: tags (`yaml.tag`), duplicate keys
 * (`yaml.duplicate_key`, the first stays), more than 20 aliases or what they blow up to (`yaml.alias_limit`), `__proto__` keys
 * (`yaml.forbidden_key`, left out), directives and further documents, files past {@link maxDocumentBytes}
 * (`yaml.too_large`), nesting past 64 (`yaml.too_deep`), bytes that are not UTF-8 (`yaml.encoding`).
 * Never throws; every problem comes with its place. `document` is given with the problems when something could be read,
 * so that a caller can check the rest too.
 */
export function readYaml(text: string | Uint8Array, file: string): YamlRead {
	const steps = yamlSteps(text, file);
	for (;;) {
		const step = steps.next();
		if (step.done) return step.value;
	}
}

/** As {@link readYaml}, in steps of a few milliseconds, for a caller that must not hold its thread. */
export function* yamlSteps(text: string | Uint8Array, file: string): Generator<void, YamlRead, void> {
	const bytes = typeof text === "string" ? Buffer.byteLength(text) : text.byteLength;
	if (bytes > maxDocumentBytes)
		return { problems: [problemOf("yaml.too_large", { file }, { maxBytes: maxDocumentBytes })] };
	let source: string;
	try {
		source = typeof text === "string" ? text : new TextDecoder("utf-8", { fatal: true }).decode(text);
	} catch {
		return { problems: [problemOf("yaml.encoding", { file, line: 1, column: 1 })] };
	}
	const lines = new LineCounter();
	lines.addNewLine(0);
	const place = (offset: number): Place => {
		const { line, col } = lines.linePos(Math.min(Math.max(offset, 0), source.length));
		return { line: Math.max(line, 1), column: Math.max(col, 1) };
	};
	const found = (each: Found): Problem =>
		problemOf(each.code, { file, ...place(each.offset), pointer: pointerOf(each.path ?? []) }, each.fields);

	const scanned = yield* scan(source, lines);
	if (scanned.fatal) return { problems: scanned.problems.map(found) };
	const documents = yield* compose(scanned.tokens, source.length);
	const root = (documents[0]?.contents ?? null) as Node | null;
	const pathOf = (each: Found): Found => ({ ...each, path: each.path ?? pathAt(root, each.offset) });
	const syntax: Found[] = documents
		.flatMap((document) => [...document.errors, ...document.warnings])
		.filter((error) => error.code !== "TAG_RESOLVE_FAILED")
		.map((error) => broken(error.pos[0], firstLine(error.message)));
	const second = documents[1];
	if (second !== undefined) syntax.push(broken(second.range?.[0] ?? 0, "the file holds more than one document"));
	if (syntax.length > 0)
		return { problems: [...scanned.problems, ...syntax].slice(0, maxProblems).map((each) => found(pathOf(each))) };

	const { value, problems, fatal } = convert(root);
	yield;
	const all = [...scanned.problems, ...problems].slice(0, maxProblems).map((each) => found(pathOf(each)));
	if (fatal) return { problems: all };
	return { document: { file, value, at: (path, key = false) => place(offsetOf(root, path, key)) }, problems: all };
}

/** Checks a document against a schema and gives every fault of {@link checkValue} with its place, in the order of the file. */
export function checkDocument<T>(document: PlacedDocument, schema: z.ZodType<T>, code: ErrorCode): Read<T> {
	const checked = checkValue(schema, document.value);
	if (checked.ok) return checked;
	const problems = checked.faults.map(({ path, key, message }) => {
		const place = { file: document.file, ...document.at(path, key), pointer: pointerOf(path) };
		return problemOf(code, place, { detail: message });
	});
	return { ok: false, problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) };
}

/** A JSON pointer (RFC 6901). */
export function pointerOf(path: Path): string {
	return path.map((part) => `/${String(part).replace(/~/g, "~0").replace(/\//g, "~1")}`).join("");
}

/** Plain data as YAML, keys in the order given. */
export function writeYaml(value: unknown): string {
	return stringify(value, { lineWidth: 0 });
}

type Found = { readonly code: ErrorCode; readonly offset: number; readonly path?: Path; readonly fields?: ErrorFields };

function broken(offset: number, detail: string, path?: Path): Found {
	return { code: "yaml.syntax", offset, fields: { detail }, ...(path === undefined ? {} : { path }) };
}

type Scanned = { readonly tokens: readonly CST.Token[]; readonly problems: Found[]; readonly fatal: boolean };

/**
 * Source → tokens. What could cost time or stack later (nesting, aliases, tags) is counted here and ends the reading
 * before a tree is made of it.
 */
function* scan(source: string, lines: LineCounter): Generator<void, Scanned, void> {
	const parser = new Parser(lines.addNewLine);
	const tokens: CST.Token[] = [];
	const problems: Found[] = [];
	const stop = (code: ErrorCode, fields: ErrorFields): Scanned => {
		problems.push({ code, offset: parser.offset, path: [], fields });
		return { tokens: [], problems, fatal: true };
	};
	let count = 0;
	let aliases = 0;
	let anchors = 0;
	let errors = 0;
	let isScalarText = false;
	for (const lexeme of new Lexer().lex(source)) {
		if (!isScalarText) {
			const first = lexeme[0];
			if (first === "*" && ++aliases > maxAliases) return stop("yaml.alias_limit", { max: maxAliases });
			if (first === "&" && ++anchors > maxProblems) return stop("yaml.alias_limit", { max: maxAliases });
			if (first === "%") problems.push(broken(parser.offset, "directives are not allowed"));
			if (first === "!") problems.push({ code: "yaml.tag", offset: parser.offset, fields: { tag: lexeme } });
			if (problems.length >= maxProblems) return { tokens: [], problems, fatal: true };
		}
		isScalarText = lexeme === "\x1f";
		for (const token of parser.next(lexeme)) {
			tokens.push(token);
			if (token.type === "error") errors++;
		}
		if (errors > maxProblems) break;
		if (count > maxLexemes) return stop("yaml.too_many_parts", { max: maxLexemes });
		if (parser.stack.length > maxDepth + 2) return stop("yaml.too_deep", { max: maxDepth });
		if (++count % lexemesAStep === 0) yield;
	}
	for (const token of parser.end()) tokens.push(token);
	return { tokens, problems, fatal: false };
}

/** Tokens → trees. Ends early when there is enough to refuse the file for. */
function* compose(tokens: readonly CST.Token[], length: number): Generator<void, readonly Document[], void> {
	const composer = new Composer({ schema: "core", version: "1.2", uniqueKeys: false, prettyErrors: false });
	const documents: Document[] = [];
	let count = 0;
	for (const token of tokens) {
		for (const document of composer.next(token)) documents.push(document);
		if (documents.length > 1) return documents;
		if (++count % lexemesAStep === 0) yield;
	}
	yield;
	for (const document of composer.end(true, length)) documents.push(document);
	yield;
	return documents;
}

type Converted = { readonly value: unknown; readonly problems: readonly Found[]; readonly fatal: boolean };
type Anchored = { readonly value: unknown; readonly nodes: number; readonly depth: number };

/** A tree → plain data. Objects hold own properties only; an alias shares the value of its anchor. */
function convert(root: Node | null): Converted {
	const problems: Found[] = [];
	const anchors = new Map<string, Anchored>();
	let fatal = false;
	let aliasedNodes = 0;
	const trail: (string | number)[] = [];
	const visit = (node: unknown): Anchored => {
		const offset = offsetOfNode(node, 0);
		if (isAlias(node)) {
			const target = anchors.get(node.source);
			if (target === undefined) {
				problems.push(broken(offset, `there is no anchor "${node.source}" before this alias`, [...trail]));
				return { value: null, nodes: 1, depth: 0 };
			}
			aliasedNodes += target.nodes;
			if (!fatal && (aliasedNodes > maxAliasedNodes || trail.length + target.depth > maxDepth)) {
				fatal = true;
				problems.push({ code: "yaml.alias_limit", offset, path: [...trail], fields: { max: maxAliases } });
			}
			return target;
		}
		let nodes = 1;
		let depth = 0;
		let value: unknown = null;
		const inner = (child: unknown, part: string | number): unknown => {
			trail.push(part);
			const made = visit(child);
			trail.pop();
			nodes += made.nodes;
			depth = Math.max(depth, made.depth + 1);
			return made.value;
		};
		if (isScalar(node)) value = node.value;
		else if (isSeq(node)) value = node.items.map((item, index) => inner(item, index));
		else if (isMap(node)) {
			const object: Record<string, unknown> = {};
			for (const pair of node.items) {
				if (!isPair(pair) || !isScalar(pair.key)) {
					problems.push(
						broken(isPair(pair) ? offsetOfNode(pair.key, offset) : offset, "a key must be plain text", [...trail]),
					);
					continue;
				}
				const key = keyOf(pair.key.value);
				const code = keyProblem(object, key);
				if (code === undefined) object[key] = inner(pair.value, key);
				else problems.push({ code, offset: offsetOfNode(pair.key, offset), path: [...trail, key], fields: { key } });
			}
			value = object;
		}
		const made = { value, nodes, depth };
		const anchor = (node as { anchor?: string } | null)?.anchor;
		if (anchor !== undefined) anchors.set(anchor, made);
		return made;
	};
	return { value: visit(root).value, problems, fatal };
}

function keyProblem(object: object, key: string): ErrorCode | undefined {
	if (key === "__proto__") return "yaml.forbidden_key";
	return Object.hasOwn(object, key) ? "yaml.duplicate_key" : undefined;
}

function keyOf(value: unknown): string {
	return value === null ? "" : String(value);
}

function offsetOfNode(node: unknown, otherwise: number): number {
	return (node as { range?: readonly number[] | null } | null | undefined)?.range?.[0] ?? otherwise;
}

function offsetOf(root: Node | null, path: Path, key: boolean): number {
	let node: unknown = root;
	let offset = offsetOfNode(root, 0);
	for (const [index, part] of path.entries()) {
		const last = index === path.length - 1;
		if (isMap(node)) {
			const pair = node.items.find((item) => isScalar(item.key) && keyOf(item.key.value) === String(part));
			if (pair === undefined) return offset;
			const keyOffset = offsetOfNode(pair.key, offset);
			offset = last && key ? keyOffset : offsetOfNode(pair.value, keyOffset);
			node = pair.value;
		} else if (isSeq(node)) {
			const item = node.items[Number(part)];
			if (item === undefined) return offset;
			offset = offsetOfNode(item, offset);
			node = item;
		} else return offset;
	}
	return offset;
}

/** The path of the innermost value that begins at or before an offset. */
function pathAt(root: Node | null, offset: number): Path {
	const path: (string | number)[] = [];
	let node: unknown = root;
	for (;;) {
		if (isMap(node)) {
			const pair = node.items.findLast((item) => isScalar(item.key) && offsetOfNode(item.key, 0) <= offset);
			if (pair === undefined || !isScalar(pair.key)) return path;
			path.push(keyOf(pair.key.value));
			node = pair.value;
		} else if (isSeq(node)) {
			const index = node.items.findLastIndex((item) => offsetOfNode(item, 0) <= offset);
			if (index < 0) return path;
			path.push(index);
			node = node.items[index];
		} else return path;
	}
}

function firstLine(message: string): string {
	return message.split("\n", 1)[0] ?? message;
}
