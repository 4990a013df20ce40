import type { JsonObject, JsonSchema, JsonValue } from "@mortise/sdk";

/** The arguments read from the words after "with", or why they could not be read. */
export type ReadArguments =
	| { readonly ok: true; readonly value: JsonObject }
	| { readonly ok: false; readonly problem: string };

/**
 * Reads a tool's arguments from text: a JSON object; `key=value, key="a, b"`, values typed by the schema; or, where
 * the tool's only string argument leaves no doubt, the text itself. `{result}` in any string becomes `result`.
 */
export function readArguments(text: string, schema: JsonSchema, result: string | undefined): ReadArguments {
	if (text.includes("{result}") && result === undefined)
		return { ok: false, problem: "there is no earlier result to put in place of {result}" };
	const filled = (value: string) => value.replaceAll("{result}", () => result ?? "");
	if (text === "") {
		const [only] = requiredOf(schema);
		return only === undefined ? { ok: true, value: {} } : { ok: false, problem: needs(schema) };
	}
	if (text.startsWith("{") && !text.startsWith("{result}")) {
		const value = parseObject(text);
		if (value !== undefined) return { ok: true, value: fill(value, filled) as JsonObject };
		return { ok: false, problem: "what follows 'with' begins like a JSON object and is not one" };
	}
	const pairs = pairsOf(text, schema);
	if (pairs !== undefined) {
		const typed = pairs.map(([key, value]) => [key, typedAs(propertyOf(schema, key), filled(value))] as const);
		return { ok: true, value: Object.fromEntries(typed) };
	}
	const only = onlyString(schema);
	if (only === undefined) return { ok: false, problem: needs(schema) };
	return { ok: true, value: { [only]: filled(unquoted(text)) } };
}

/** The one string argument that a bare text can be meant for. */
export function onlyString(schema: JsonSchema): string | undefined {
	const isString = (name: string) => propertyOf(schema, name)?.type === "string";
	const required = requiredOf(schema);
	if (required.length > 0) {
		const [first, ...others] = required;
		return first !== undefined && others.length === 0 && isString(first) ? first : undefined;
	}
	const strings = Object.keys(propertiesOf(schema)).filter(isString);
	return strings.length === 1 ? strings[0] : undefined;
}

/** What a tool takes, and how it can be given, after the tool's name. */
export function needs(schema: JsonSchema): string {
	const names = Object.keys(propertiesOf(schema));
	if (names.length === 0) return "it takes no arguments I can name; give them as a JSON object";
	const required = requiredOf(schema);
	const shown = names.map((name) => (required.includes(name) ? name : `${name} (optional)`)).join(", ");
	return `it takes ${shown}; give them as key=value, or as a JSON object`;
}

function pairsOf(text: string, schema: JsonSchema): readonly (readonly [string, string])[] | undefined {
	const pairs: [string, string][] = [];
	const pattern =
		/\s*([A-Za-z_][\w-]*)\s*=\s*("(?:[^"\\]|\\[\s\S])*"(?=\s*(?:,|$))|[\s\S]*?(?=\s*,\s*[A-Za-z_][\w-]*\s*=|\s*$))\s*(,|$)/y;
	while (pattern.lastIndex < text.length) {
		const match = pattern.exec(text);
		if (match?.[1] === undefined || match[2] === undefined) return undefined;
		const known = propertiesOf(schema);
		if (Object.keys(known).length > 0 && !Object.hasOwn(known, match[1])) return undefined;
		pairs.push([match[1], unquoted(match[2])]);
	}
	return pairs;
}

function unquoted(text: string): string {
	if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
	try {
		return String(JSON.parse(text));
	} catch {
		return text.slice(1, -1);
	}
}

function typedAs(schema: JsonSchema | undefined, value: string): JsonValue {
	const type = schema?.type;
	if ((type === "number" || type === "integer") && value !== "" && Number.isFinite(Number(value))) return Number(value);
	if (type === "boolean" && /^(true|false|yes|no)$/i.test(value)) return /^(true|yes)$/i.test(value);
	if (type === "null" && value === "null") return null;
	if (type === "array" || type === "object") {
		try {
			return JSON.parse(value) as JsonValue;
		} catch {
			return type === "array" ? value.split(/\s*\|\s*/) : value;
		}
	}
	return value;
}

function fill(value: JsonValue, filled: (text: string) => string): JsonValue {
	if (typeof value === "string") return filled(value);
	if (Array.isArray(value)) return value.map((item: JsonValue) => fill(item, filled));
	if (typeof value !== "object" || value === null) return value;
	return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fill(member, filled)]));
}

function parseObject(text: string): JsonObject | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
	} catch {
		return undefined;
	}
}

function propertiesOf(schema: JsonSchema): Record<string, unknown> {
	const { properties } = schema;
	return typeof properties === "object" && properties !== null ? (properties as Record<string, unknown>) : {};
}

function propertyOf(schema: JsonSchema, name: string): JsonSchema | undefined {
	const properties = propertiesOf(schema);
	const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
	return typeof property === "object" && property !== null ? (property as JsonSchema) : undefined;
}

function requiredOf(schema: JsonSchema): readonly string[] {
	return Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === "string") : [];
}
