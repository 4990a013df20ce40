import type { JsonSchema } from "../contract/json.js";
import { join, type Misfit } from "./schema.js";

const maxMisfits = 20;
const maxDepth = 64;

/**
 * Where a value does not fit a JSON Schema (2020-12); empty when it fits. The host has checked a tool's arguments in
 * full already, so this small check knows the everyday keywords: `type`, `enum`, `const`, `properties`, `required`,
 * `additionalProperties`, `items`, `prefixItems`, the bounds, `pattern`, `multipleOf`, `uniqueItems`, `allOf`, `anyOf`,
 * `oneOf`, `not` and local `$ref`. Others (`format`, `if`, `unevaluatedProperties`, …) are not looked at here.
 */
export function checkJsonSchema(schema: JsonSchema, value: unknown, path: string): readonly Misfit[] {
	const misfits: Misfit[] = [];
	check({ root: schema, misfits }, schema, value, path, 0);
	return misfits;
}

type Checking = { readonly root: JsonSchema; readonly misfits: Misfit[] };

function check(checking: Checking, schema: unknown, value: unknown, path: string, depth: number): void {
	if (schema === true || checking.misfits.length >= maxMisfits) return;
	const refuse = (message: string, at = path) => checking.misfits.push({ path: at, message });
	if (schema === false) {
		refuse("is not allowed");
		return;
	}
	if (!isObject(schema)) return;
	if (depth > maxDepth) {
		refuse("is nested too deeply");
		return;
	}
	const inner = (other: unknown, at: unknown, where = path) => check(checking, other, at, where, depth + 1);
	const fits = (other: unknown) => {
		const apart: Checking = { root: checking.root, misfits: [] };
		check(apart, other, value, path, depth + 1);
		return apart.misfits.length === 0;
	};

	if (typeof schema.$ref === "string") inner(resolve(checking.root, schema.$ref), value);
	const types = typeof schema.type === "string" ? [schema.type] : Array.isArray(schema.type) ? schema.type : undefined;
	if (types !== undefined && !types.some((type) => isOfType(value, type))) {
		refuse(`must be ${types.map((type) => article(String(type))).join(" or ")}`);
		return;
	}
	if (Array.isArray(schema.enum) && !schema.enum.some((option) => equal(option, value)))
		refuse(`must be one of ${schema.enum.map((option) => JSON.stringify(option)).join(", ")}`);
	if (Object.hasOwn(schema, "const") && !equal(schema.const, value)) refuse(`must be ${JSON.stringify(schema.const)}`);
	for (const part of list(schema.allOf)) inner(part, value);
	if (Array.isArray(schema.anyOf) && !schema.anyOf.some(fits)) refuse("fits none of the allowed forms");
	if (Array.isArray(schema.oneOf) && schema.oneOf.filter(fits).length !== 1)
		refuse("must fit exactly one of the allowed forms");
	if (schema.not !== undefined && fits(schema.not)) refuse("has a form that is not allowed");

	if (typeof value === "string") checkString(schema, value, refuse);
	else if (typeof value === "number") checkNumber(schema, value, refuse);
	else if (Array.isArray(value)) checkArray(schema, value, path, refuse, inner);
	else if (isObject(value)) checkObject(schema, value, path, refuse, inner);
}

type Refuse = (message: string, at?: string) => unknown;
type Inner = (schema: unknown, value: unknown, path: string) => void;

function checkString(schema: JsonSchema, value: string, refuse: Refuse): void {
	const { minLength, maxLength, pattern } = schema;
	if (typeof minLength === "number" || typeof maxLength === "number") {
		let length = 0;
		for (const _ of value) length++;
		if (typeof minLength === "number" && length < minLength) refuse(`must have at least ${minLength} characters`);
		if (typeof maxLength === "number" && length > maxLength) refuse(`must have at most ${maxLength} characters`);
	}
	if (typeof pattern === "string" && !new RegExp(pattern, "u").test(value)) refuse(`must match ${pattern}`);
}

function checkNumber(schema: JsonSchema, value: number, refuse: Refuse): void {
	const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
	if (typeof minimum === "number" && value < minimum) refuse(`must be at least ${minimum}`);
	if (typeof maximum === "number" && value > maximum) refuse(`must be at most ${maximum}`);
	if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum) refuse(`must be above ${exclusiveMinimum}`);
	if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum) refuse(`must be below ${exclusiveMaximum}`);
	if (typeof multipleOf === "number" && !Number.isInteger(value / multipleOf))
		refuse(`must be a multiple of ${multipleOf}`);
}

function checkArray(schema: JsonSchema, value: readonly unknown[], path: string, refuse: Refuse, inner: Inner): void {
	const { minItems, maxItems } = schema;
	if (typeof minItems === "number" && value.length < minItems) refuse(`must have at least ${minItems} items`);
	if (typeof maxItems === "number" && value.length > maxItems) refuse(`must have at most ${maxItems} items`);
	const prefix = list(schema.prefixItems);
	for (const [index, item] of value.entries()) {
		const own = index < prefix.length ? prefix[index] : schema.items;
		if (own !== undefined) inner(own, item, join(path, index));
	}
	if (schema.uniqueItems === true && value.some((item, index) => value.findIndex((one) => equal(one, item)) !== index))
		refuse("must not have the same item twice");
}

function checkObject(schema: JsonSchema, value: JsonSchema, path: string, refuse: Refuse, inner: Inner): void {
	const keys = Object.keys(value);
	const { minProperties, maxProperties } = schema;
	if (typeof minProperties === "number" && keys.length < minProperties)
		refuse(`must have at least ${minProperties} members`);
	if (typeof maxProperties === "number" && keys.length > maxProperties)
		refuse(`must have at most ${maxProperties} members`);
	for (const name of list(schema.required))
		if (typeof name === "string" && !Object.hasOwn(value, name)) refuse("is missing", join(path, name));
	const properties = isObject(schema.properties) ? schema.properties : {};
	const patterns = Object.entries(isObject(schema.patternProperties) ? schema.patternProperties : {});
	for (const key of keys) {
		const at = join(path, key);
		const matching = patterns.filter(([pattern]) => new RegExp(pattern, "u").test(key));
		if (Object.hasOwn(properties, key)) inner(properties[key], value[key], at);
		for (const [, own] of matching) inner(own, value[key], at);
		if (Object.hasOwn(properties, key) || matching.length > 0) continue;
		if (schema.additionalProperties === false) refuse("is not known", at);
		else if (schema.additionalProperties !== undefined) inner(schema.additionalProperties, value[key], at);
	}
}

function resolve(root: JsonSchema, reference: string): unknown {
	if (!reference.startsWith("#")) return true;
	let at: unknown = root;
	for (const step of reference.slice(1).split("/").slice(1)) {
		const key = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
		if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return true;
		at = (at as Record<string, unknown>)[key];
	}
	return at;
}

function isOfType(value: unknown, type: unknown): boolean {
	switch (type) {
		case "object":
			return isObject(value);
		case "array":
			return Array.isArray(value);
		case "null":
			return value === null;
		case "integer":
			return Number.isInteger(value);
		case "number":
			return typeof value === "number" && Number.isFinite(value);
		default:
			return typeof value === type;
	}
}

function article(type: string): string {
	if (type === "null") return "null";
	return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function list(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is JsonSchema {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function equal(one: unknown, other: unknown): boolean {
	if (Object.is(one, other) || one === other) return true;
	if (Array.isArray(one) && Array.isArray(other))
		return one.length === other.length && one.every((item, index) => equal(item, other[index]));
	if (!isObject(one) || !isObject(other)) return false;
	const keys = Object.keys(one);
	if (keys.length !== Object.keys(other).length) return false;
	return keys.every((key) => Object.hasOwn(other, key) && equal(one[key], other[key]));
}
