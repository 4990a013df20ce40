/** What the value of a keyword must be. The ones that begin with "schema" hold subschemas. */
export type KeywordShape =
	| "schema"
	| "schema-list"
	| "schema-map"
	| "count"
	| "number"
	| "positive"
	| "boolean"
	| "text"
	| "pattern"
	| "names"
	| "names-map"
	| "types"
	| "list"
	| "any"
	| "reference"
	| "note";

/** Every keyword that is understood (JSON Schema 2020-12). Notes are allowed and change nothing. */
export const keywords: { readonly [keyword: string]: KeywordShape } = Object.assign(Object.create(null), {
	$ref: "reference",
	$defs: "schema-map",
	definitions: "schema-map",
	allOf: "schema-list",
	anyOf: "schema-list",
	oneOf: "schema-list",
	not: "schema",
	if: "schema",
	// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
	then: "schema",
	else: "schema",
	dependentSchemas: "schema-map",
	prefixItems: "schema-list",
	items: "schema",
	contains: "schema",
	properties: "schema-map",
	patternProperties: "schema-map",
	additionalProperties: "schema",
	propertyNames: "schema",
	unevaluatedItems: "schema",
	unevaluatedProperties: "schema",
	type: "types",
	enum: "list",
	const: "any",
	multipleOf: "positive",
	maximum: "number",
	exclusiveMaximum: "number",
	minimum: "number",
	exclusiveMinimum: "number",
	maxLength: "count",
	minLength: "count",
	pattern: "pattern",
	maxItems: "count",
	minItems: "count",
	uniqueItems: "boolean",
	maxContains: "count",
	minContains: "count",
	maxProperties: "count",
	minProperties: "count",
	required: "names",
	dependentRequired: "names-map",
	format: "text",
	$schema: "note",
	$comment: "note",
	$id: "note",
	title: "note",
	description: "note",
	default: "note",
	deprecated: "note",
	readOnly: "note",
	writeOnly: "note",
	examples: "note",
	example: "note",
	contentEncoding: "note",
	contentMediaType: "note",
	contentSchema: "note",
});

/** Keywords that apply their subschemas to the same value: a circle through these would never end. */
export const inPlace: ReadonlySet<string> = new Set([
	"allOf",
	"anyOf",
	"oneOf",
	"not",
	"if",
	"then",
	"else",
	"dependentSchemas",
]);

/** What to write in place of a keyword that is not understood. */
export const replacements: { readonly [keyword: string]: string } = Object.assign(Object.create(null), {
	additionalItems: "use items beside prefixItems",
	dependencies: "use dependentRequired or dependentSchemas",
	id: "leave it out",
	nullable: 'use type: [..., "null"]',
	$anchor: "refer by #/$defs/NAME",
	$dynamicRef: "use $ref",
	$dynamicAnchor: "use $ref",
	$recursiveRef: "use $ref",
	$recursiveAnchor: "use $ref",
	$async: "a schema is not asynchronous",
	$data: "give the value itself",
});
