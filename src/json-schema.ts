import { createHash } from "node:crypto";
import { _, Ajv2020, type ErrorObject, type KeywordCxt, type ValidateFunction } from "ajv/dist/2020.js";
import ajvFormats from "ajv-formats";
import { escapeText } from "./errors.js";
import { Budget, compilePattern } from "./json-schema/budget.js";
import { canonicalJson, measure } from "./json-schema/measure.js";
import { type ReadSchema, readSchema, SchemaProblem } from "./json-schema/read.js";

/** A compiled schema, or why it cannot be used. `check` must not throw; `[]` means valid. */
export type CompiledSchema =
	| { readonly ok: true; readonly check: (value: unknown) => string[] }
	| { readonly ok: false; readonly detail: string };

const maxSchemaBytes = 64 * 1024;
const schemaCaps = { maxDepth: 32, maxNodes: 5000, maxTextLength: maxSchemaBytes };
const maxPatterns = 32;
/** Instructions of all patterns of a schema, as RE2 counts them. */
const maxPatternSize = 8000;
const valueCaps = { maxDepth: 64, maxNodes: 50_000, maxTextLength: 4 * 1024 * 1024 };
const maxMessages = 20;
const maxMessageLength = 400;
const maxFormatLength = 16 * 1024;
/** Steps of one check; a step is one look at a subschema, at most about a microsecond. */
const checkSteps = 100_000;
/** Steps of the second look, which collects every mistake and so is kept shorter. */
const collectSteps = 20_000;
const cacheSize = 256;
const costKeyword = "mortise-cost";

const checkedFormats = [
	"date",
	"time",
	"date-time",
	"duration",
	"uri",
	"uri-reference",
	"email",
	"hostname",
	"ipv4",
	"ipv6",
	"uuid",
	"json-pointer",
	"relative-json-pointer",
] as const;

const cache = new Map<string, CompiledSchema>();

/**
 * Compiles an untrusted JSON Schema (2020-12) to a check that ends in bounded time whatever the schema and the value.
 *
 * Limits of a schema: 64 KiB of JSON, depth 32, 5000 values, 200 subschemas, 100 places referred to, 32 patterns of 8000
 * instructions in all; of a value: depth 64, 50 000 values, 4 Mi characters. Compiling at the limits takes tens of
 * milliseconds, and so does a check: both happen on the main thread. Only `$ref: "#"` and `"#/…"` are followed; `$id` and other notes change nothing; an unknown
 * keyword is refused unless it begins with `x-`. Patterns run in linear time, so look-around and back references are
 * refused; `\s` is ASCII white space. Formats checked: `date`, `time`, `date-time`, `duration`, `uri`, `uri-reference`,
 * `email`, `hostname`, `ipv4`, `ipv6`, `uuid`, `json-pointer`, `relative-json-pointer`, on at most 16 Ki characters;
 * any other format is a note.
 *
 * `check` gives at most 20 messages, each beginning with the JSON pointer of the place; they never show a value. A value
 * past the limits, or too costly to check, is invalid. Never throws; compiled schemas are kept, at most 256.
 */
export function compileSchema(schema: unknown): CompiledSchema {
	try {
		const problem = measure(schema, schemaCaps);
		if (problem !== undefined) return { ok: false, detail: `the schema is not usable: ${problem}` };
		const text = canonicalJson(schema);
		if (Buffer.byteLength(text) > maxSchemaBytes)
			return { ok: false, detail: `the schema is larger than ${maxSchemaBytes} bytes` };
		const key = createHash("sha256").update(text).digest("base64");
		const known = cache.get(key);
		if (known !== undefined) cache.delete(key);
		const compiled = known ?? compile(text);
		cache.set(key, compiled);
		if (cache.size > cacheSize) for (const oldest of cache.keys()) if (cache.delete(oldest)) break;
		return compiled;
	} catch (error) {
		return { ok: false, detail: `the schema is not usable: ${error instanceof Error ? error.message : String(error)}` };
	}
}

function compile(text: string): CompiledSchema {
	const budget = new Budget();
	let read: ReadSchema;
	let validate: ValidateFunction;
	let patterns = 0;
	let patternSize = 0;
	try {
		read = readSchema(JSON.parse(text), {
			formats: new Set(checkedFormats),
			checkPattern: (source) => {
				patterns += 1;
				if (patterns > maxPatterns) throw new Error(`a schema has at most ${maxPatterns}`);
				patternSize += compilePattern(source, budget).size;
				if (patternSize > maxPatternSize)
					throw new Error(`the schema's patterns need more than ${maxPatternSize} instructions together`);
			},
			costKeyword,
		});
		validate = newValidator(read, budget, false);
	} catch (error) {
		if (error instanceof SchemaProblem) return { ok: false, detail: error.message };
		throw error;
	}
	let collect: ValidateFunction | undefined;
	return {
		ok: true,
		check: (value) => {
			const problem = measure(value, valueCaps);
			if (problem !== undefined) return [`the value is refused: ${problem}`];
			const first = run(validate, value, budget, checkSteps);
			if (first === undefined) return ["the value takes too long to check against this schema"];
			if (first.length === 0) return [];
			try {
				collect ??= newValidator(read, budget, true);
			} catch {
				return messagesOf(first);
			}
			const all = run(collect, value, budget, collectSteps);
			return messagesOf(all === undefined || all.length === 0 ? first : all);
		},
	};
}

/** The errors of one validation; undefined when its budget ended or the stack did. */
function run(validate: ValidateFunction, value: unknown, budget: Budget, steps: number): ErrorObject[] | undefined {
	budget.start(steps);
	try {
		return validate(value) ? [] : (validate.errors ?? []);
	} catch {
		return undefined;
	} finally {
		// the validator keeps the errors, and they hold on to parts of the value
		validate.errors = null;
	}
}

function newValidator(schema: ReadSchema, budget: Budget, allErrors: boolean): ValidateFunction {
	const regExp = Object.assign(
		// the validator tells patterns apart by their text
		(source: string) => ({ ...compilePattern(source, budget), toString: () => source }),
		{ code: "pattern" },
	);
	const ajv = new Ajv2020({
		allErrors,
		strict: false,
		meta: false,
		validateSchema: false,
		addUsedSchema: false,
		inlineRefs: false,
		ownProperties: true,
		logger: false,
		code: { regExp: regExp as never },
		formats: Object.fromEntries(checkedFormats.map((name) => [name, boundedFormat(name, budget)])),
	});
	ajv.removeKeyword("uniqueItems");
	ajv.addKeyword({
		keyword: "uniqueItems",
		type: "array",
		schemaType: "boolean",
		errors: false,
		error: { message: "must NOT have duplicate items" },
		validate: (wanted: boolean, items: unknown[]) => !wanted || areUnique(items, budget),
	});
	const spend = (data: unknown, cost: number): void => budget.spend(cost + breadth(data));
	ajv.addKeyword({
		keyword: costKeyword,
		schemaType: "number",
		before: "$ref",
		code: (context: KeywordCxt) => {
			const name = context.gen.scopeValue("obj", { ref: spend });
			context.gen.code(_`${name}(${context.data}, ${Number(context.schema)})`);
		},
	});
	return ajv.compile(schema);
}

function breadth(data: unknown): number {
	if (typeof data === "string") return data.length >> 6;
	if (typeof data !== "object" || data === null || Array.isArray(data)) return 0;
	return Object.keys(data).length >> 2;
}

// the validator's own comparison takes quadratic time
function areUnique(items: readonly unknown[], budget: Budget): boolean {
	const seen = new Set<string>();
	for (const item of items) {
		const text = canonicalJson(item);
		budget.spend(1 + (text.length >> 4));
		if (seen.has(text)) return false;
		seen.add(text);
	}
	return true;
}

function boundedFormat(name: (typeof checkedFormats)[number], budget: Budget): (text: string) => boolean {
	const format = ajvFormats.default.get(name);
	const test = formatTest(format);
	return (text) => {
		budget.spend(1 + (text.length >> 3));
		return text.length <= maxFormatLength && test(text);
	};
}

function formatTest(format: unknown): (text: string) => boolean {
	if (format instanceof RegExp) return (text) => format.test(text);
	if (typeof format === "function") return (text) => format(text) === true;
	if (typeof format === "object" && format !== null && "validate" in format) return formatTest(format.validate);
	throw new Error("the format library has changed its shape");
}

function messagesOf(errors: readonly ErrorObject[]): string[] {
	const messages = new Set<string>();
	for (const error of errors) {
		if (messages.size >= maxMessages) break;
		messages.add(messageOf(error));
	}
	return [...messages];
}

function messageOf(error: ErrorObject): string {
	const place = error.instancePath === "" ? "the value" : clip(error.instancePath, 150);
	return clip(`${place} ${error.message ?? "is not valid"}${extra(error)}`, maxMessageLength);
}

function extra(error: ErrorObject): string {
	const params: Record<string, unknown> = error.params;
	switch (error.keyword) {
		case "enum":
			return `: ${clip(JSON.stringify(params.allowedValues), 200)}`;
		case "const":
			return `: ${clip(JSON.stringify(params.allowedValue), 200)}`;
		case "additionalProperties":
			return `: ${clip(JSON.stringify(params.additionalProperty), 80)}`;
		case "unevaluatedProperties":
			return `: ${clip(JSON.stringify(params.unevaluatedProperty), 80)}`;
		case "propertyNames":
			return `: ${clip(JSON.stringify(params.propertyName), 80)}`;
		default:
			return "";
	}
}

function clip(text: string, maxLength: number): string {
	const shown = escapeText(text.slice(0, maxLength));
	return text.length > maxLength ? `${shown}…` : shown;
}
