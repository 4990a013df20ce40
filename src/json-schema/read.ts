import { escapeText } from "../errors.js";
import { inPlace, type KeywordShape, keywords, replacements } from "./keywords.js";
import { isRecord, shapes } from "./shapes.js";

/** A schema reduced to what is understood: no notes, every `$ref` a name of ours. */
export type ReadSchema = boolean | { [keyword: string]: unknown };
/** A schema that cannot be used. `message` names the place as a JSON pointer. */
export class SchemaProblem extends Error {}

export type ReadOptions = {
	/** Formats that are checked; any other is a note. */
	readonly formats: ReadonlySet<string>;
	/** Throws with the reason when the pattern cannot be used. */
	readonly checkPattern: (source: string) => void;
	/** The name of the keyword that carries what one look at the subschema costs. */
	readonly costKeyword: string;
};

/** The validator's own compiler takes about a quarter of a millisecond for each, and more for `unevaluated…`. */
const maxSubschemas = 200;
const maxReferences = 100;
const prefix = "#/$defs/";

/**
 * Reads a JSON Schema (2020-12) into a fresh object that holds only understood keywords with values of the right shape.
 * Targets of references move to `$defs` under names made here, so nothing of the author's is ever resolved as an address.
 * Throws `SchemaProblem` for an unknown keyword (`x-` ones are notes), a reference that leaves the schema or leads
 * nowhere, and a circle of references that would never end.
 */
export function readSchema(schema: unknown, options: ReadOptions): ReadSchema {
	const places: Found["places"] = new Map();
	const targets = new Map<string, string>();
	const jumps = new Map<string, string[]>();
	collect(schema, "", options, { places, targets, jumps });
	for (const [target] of targets) if (!places.has(target)) fail(target, "a $ref leads here, where there is no schema");
	requireEnd(jumps);

	const emit = (node: unknown, pointer: string, isTarget: boolean): ReadSchema => {
		if (typeof node === "boolean") return node;
		const name = targets.get(pointer);
		if (name !== undefined && !isTarget) return { $ref: name };
		const result: { [keyword: string]: unknown } = {};
		let cost = 1;
		for (const [keyword, value] of Object.entries(node as object)) {
			const shape = keywords[keyword];
			if (shape === undefined || shape === "note" || keyword === "$defs" || keyword === "definitions") continue;
			if (keyword === "format" && !options.formats.has(String(value))) continue;
			const at = `${pointer}/${token(keyword)}`;
			if (shape === "reference") result.$ref = targets.get(targetOf(value, at));
			else if (shape === "schema") result[keyword] = emit(value, at, false);
			else if (shape === "schema-list")
				result[keyword] = (value as unknown[]).map((item, index) => emit(item, `${at}/${index}`, false));
			else if (shape === "schema-map")
				result[keyword] = Object.fromEntries(
					Object.entries(value as object).map(([key, item]) => [key, emit(item, `${at}/${token(key)}`, false)]),
				);
			else {
				result[keyword] = value;
				cost += size(value);
			}
			if (shape === "schema-map") cost += Object.keys(value as object).length;
		}
		result[options.costKeyword] = cost;
		return result;
	};

	const root = emit(schema, "", false);
	if (typeof root === "boolean") return root;
	root.$defs = Object.fromEntries(
		[...targets].map(([pointer, name]) => [name.slice(prefix.length), emit(places.get(pointer), pointer, true)]),
	);
	return root;
}

type Found = {
	/** Every subschema by its pointer. */
	readonly places: Map<string, Record<string, unknown> | boolean>;
	/** Pointers that references name → the reference we write. */
	readonly targets: Map<string, string>;
	/** Pointer → pointers applied to the same value. */
	readonly jumps: Map<string, string[]>;
};

function collect(node: unknown, pointer: string, options: ReadOptions, found: Found): void {
	if (found.places.size >= maxSubschemas) fail("", `it has more than ${maxSubschemas} subschemas`);
	if (typeof node === "boolean") {
		found.places.set(pointer, node);
		return;
	}
	if (!isRecord(node)) fail(pointer, "a schema is an object, true or false");
	found.places.set(pointer, node);
	const next: string[] = [];
	found.jumps.set(pointer, next);
	for (const [keyword, value] of Object.entries(node)) {
		const at = `${pointer}/${token(keyword)}`;
		const shape = keywords[keyword];
		if (shape === undefined) {
			if (keyword.startsWith("x-")) continue;
			const hint = replacements[keyword];
			fail(at, `the keyword is not understood${hint === undefined ? "" : `: ${hint}`}`);
		}
		if (keyword === "$id" && pointer !== "") fail(at, "only the whole schema may have an $id");
		checkShape(shape, value, at, options);
		const go = (child: unknown, place: string): void => {
			if (inPlace.has(keyword)) next.push(place);
			collect(child, place, options, found);
		};
		if (shape === "schema") go(value, at);
		if (shape === "schema-list") for (const [index, item] of (value as unknown[]).entries()) go(item, `${at}/${index}`);
		if (shape === "schema-map")
			for (const [key, item] of Object.entries(value as object)) {
				if (keyword === "patternProperties") checkShape("pattern", key, `${at}/${token(key)}`, options);
				go(item, `${at}/${token(key)}`);
			}
		if (shape === "reference") {
			const target = targetOf(value, at);
			next.push(target);
			if (!found.targets.has(target)) {
				if (found.targets.size >= maxReferences) fail(at, `more than ${maxReferences} places are referred to`);
				found.targets.set(target, `${prefix}s${found.targets.size}`);
			}
		}
	}
}

function checkShape(shape: KeywordShape, value: unknown, at: string, options: ReadOptions): void {
	const { holds, words } = shapes[shape];
	if (!holds(value)) fail(at, `it must be ${words}`);
	if (shape !== "pattern") return;
	try {
		options.checkPattern(String(value));
	} catch (error) {
		fail(at, `the pattern cannot be used: ${error instanceof Error ? error.message : String(error)}`);
	}
}

function targetOf(value: unknown, at: string): string {
	const reference = String(value);
	if (reference === "#") return "";
	if (!reference.startsWith("#/")) fail(at, "only references within the schema (#/…) are followed");
	try {
		return decodeURIComponent(reference.slice(1));
	} catch {
		return fail(at, "the reference is not a JSON pointer");
	}
}

// a circle of jumps would look at the same value for ever
function requireEnd(jumps: ReadonlyMap<string, readonly string[]>): void {
	const done = new Set<string>();
	const open = new Set<string>();
	const visit = (pointer: string): void => {
		if (done.has(pointer)) return;
		if (open.has(pointer)) fail(pointer, "the references go round in a circle that never ends");
		open.add(pointer);
		for (const next of jumps.get(pointer) ?? []) visit(next);
		open.delete(pointer);
		done.add(pointer);
	};
	for (const pointer of jumps.keys()) visit(pointer);
}

function size(value: unknown): number {
	if (typeof value !== "object" || value === null) return 1;
	return Object.values(value).reduce<number>((sum, member) => sum + size(member), 1);
}

function token(key: string): string {
	return key.replaceAll("~", "~0").replaceAll("/", "~1");
}

function fail(pointer: string, detail: string): never {
	const shown = pointer === "" ? "the schema" : escapeText(pointer).slice(0, 200);
	throw new SchemaProblem(`${shown}: ${escapeText(detail).slice(0, 300)}`);
}
