import type { JsonSchema } from "../contract/json.js";

/** One place where a value does not fit. `path` is written as in JavaScript: `arguments.cities[2]`. */
export type Misfit = { readonly path: string; readonly message: string };

/**
 * Any schema of the Standard Schema specification, version 1 (zod, valibot, arktype, …). The library it comes from
 * becomes part of the plugin's bundle: zod costs tens of milliseconds in every fresh instance, JSON Schema nothing.
 */
export type StandardSchema<Output = unknown> = {
	readonly "~standard": {
		readonly version: 1;
		readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
		readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
	};
};
type StandardResult<Output> =
	| { readonly value: Output; readonly issues?: undefined }
	| { readonly issues: readonly StandardIssue[] };
type StandardIssue = {
	readonly message: string;
	readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
};

/** What a tool's `input` may be. */
export type InputSchema = StandardSchema | JsonSchema;

/** The type a schema describes: exact for a Standard Schema, the common keywords for a JSON Schema. */
export type ValueOf<S> = S extends StandardSchema<infer Output> ? Output : ValueOfJsonSchema<S>;

type ValueOfJsonSchema<S> = S extends { readonly const: infer C }
	? C
	: S extends { readonly enum: readonly (infer E)[] }
		? E
		: S extends { readonly type: infer T }
			? T extends "string"
				? string
				: T extends "number" | "integer"
					? number
					: T extends "boolean"
						? boolean
						: T extends "null"
							? null
							: T extends "array"
								? S extends { readonly items: infer I }
									? ValueOfJsonSchema<I>[]
									: unknown[]
								: T extends "object"
									? ObjectOf<S>
									: unknown
			: unknown;

type ObjectOf<S> = S extends { readonly properties: infer P }
	? S extends { readonly required: readonly (infer R)[] }
		? { readonly [K in keyof P as K extends R ? K : never]: ValueOfJsonSchema<P[K]> } & {
				readonly [K in keyof P as K extends R ? never : K]?: ValueOfJsonSchema<P[K]>;
			}
		: { readonly [K in keyof P]?: ValueOfJsonSchema<P[K]> }
	: { readonly [key: string]: unknown };

/** Whether a schema is a Standard Schema. */
export function isStandardSchema(schema: InputSchema): schema is StandardSchema {
	return "~standard" in schema;
}

/** Checks a value against a Standard Schema; the value given back may be a changed one (defaults, transforms). */
export async function checkStandard(
	schema: StandardSchema,
	value: unknown,
	path: string,
): Promise<{ readonly value: unknown; readonly misfits: readonly Misfit[] }> {
	const result = await schema["~standard"].validate(value);
	if (result.issues === undefined) return { value: result.value, misfits: [] };
	return { value, misfits: result.issues.map((issue) => ({ path: issuePath(path, issue), message: issue.message })) };
}

function issuePath(path: string, issue: StandardIssue): string {
	let full = path;
	for (const step of issue.path ?? []) {
		const key = typeof step === "object" ? step.key : step;
		full = join(full, typeof key === "number" ? key : String(key));
	}
	return full;
}

/** Appends a member's name or an item's index to a path. */
export function join(path: string, key: string | number): string {
	if (typeof key === "number") return `${path}[${key}]`;
	if (!/^[A-Za-z_$][\w$]*$/.test(key)) return `${path}[${JSON.stringify(key)}]`;
	return path === "" ? key : `${path}.${key}`;
}
