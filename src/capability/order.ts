import { compareText } from "./version.js";

/** Plain data with the keys of every object in order, lists as they are. Must be JSON data. */
export function sortKeys(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(sortKeys);
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value).filter(([, each]) => each !== undefined);
	entries.sort(([a], [b]) => compareText(a, b));
	return Object.fromEntries(entries.map(([key, each]) => [key, sortKeys(each)]));
}

/** Distinct texts in order of code units. */
export function sortTexts(values: Iterable<string>): string[] {
	return [...new Set(values)].sort(compareText);
}

/**
 * Values by a key of theirs, then by their canonical JSON, equal ones once: one order whatever the order they came in.
 */
export function sortRecords<T>(values: readonly T[], keyOf: (value: T) => string = () => ""): T[] {
	const keyed = new Map(values.map((value) => [JSON.stringify(sortKeys(value)), value]));
	return [...keyed]
		.sort(([a, left], [b, right]) => compareText(keyOf(left), keyOf(right)) || compareText(a, b))
		.map(([, value]) => value);
}
