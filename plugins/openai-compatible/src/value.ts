/** The value as an object; `undefined` when it is none. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
	return typeof value === "object" && value !== null && !Array.isArray(value)
		? (value as Readonly<Record<string, unknown>>)
		: undefined;
}

/** An object's own member; `undefined` when there is none. */
export function memberOf(value: unknown, name: string): unknown {
	const object = objectOf(value);
	return object !== undefined && Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The value as a string that is not empty. */
export function stringOf(value: unknown): string | undefined {
	return typeof value === "string" && value !== "" ? value : undefined;
}

/** The value as a list; empty when it is none. */
export function listOf(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}

/** The value as a count; 0 when it is none. */
export function countOf(value: unknown): number {
	return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}
