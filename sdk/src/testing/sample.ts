import type { JsonObject, JsonSchema, JsonValue } from "../contract/json.js";

/** A small value that fits a JSON Schema of everyday keywords; `undefined` where none could be made. */
export function sample(schema: unknown): JsonValue | undefined {
	if (schema === true || schema === undefined) return "sample";
	if (!isSchema(schema)) return undefined;
	for (const given of [schema.const, schema.default, first(schema.examples), first(schema.enum)])
		if (given !== undefined) return given as JsonValue;
	const alternative = first(schema.anyOf) ?? first(schema.oneOf) ?? first(schema.allOf);
	if (schema.type === undefined && alternative !== undefined) return sample(alternative);
	switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
		case "string":
			return "sample".padEnd(Number(schema.minLength ?? 0), "e").slice(0, Number(schema.maxLength ?? 1000));
		case "number":
		case "integer":
			return Number(
				schema.minimum ?? (schema.exclusiveMinimum === undefined ? 1 : Number(schema.exclusiveMinimum) + 1),
			);
		case "boolean":
			return true;
		case "null":
			return null;
		case "array":
			return Array.from({ length: Number(schema.minItems ?? 0) }, () => sample(schema.items) ?? null);
		default:
			return sampleObject(schema);
	}
}

/** The names an object must have by a schema. */
export function requiredOf(schema: unknown): readonly string[] {
	if (!isSchema(schema) || !Array.isArray(schema.required)) return [];
	return schema.required.filter((name): name is string => typeof name === "string");
}

/** A value that a schema's `type` cannot take. */
export function misfit(schema: unknown): JsonValue {
	const types = isSchema(schema) ? [schema.type].flat() : [];
	if (!types.includes("object")) return { misfit: true };
	return "misfit";
}

/** The schema of a member. */
export function memberSchema(schema: unknown, name: string): unknown {
	return isSchema(schema) && isSchema(schema.properties) ? schema.properties[name] : undefined;
}

function sampleObject(schema: JsonSchema): JsonObject {
	const members = requiredOf(schema).map((name) => [name, sample(memberSchema(schema, name)) ?? null] as const);
	return Object.fromEntries(members);
}

function first(list: unknown): unknown {
	return Array.isArray(list) ? list[0] : undefined;
}

function isSchema(value: unknown): value is JsonSchema {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
