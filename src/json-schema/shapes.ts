import type { KeywordShape } from "./keywords.js";

type Shape = { readonly holds: (value: unknown) => boolean; readonly words: string };

const typeNames = ["null", "boolean", "object", "array", "number", "integer", "string"];
const anything = { holds: () => true, words: "anything" };
const text: Shape = { holds: (value) => typeof value === "string", words: "a string" };

/** What the value of a keyword must be, in code and in words. Subschemas and patterns are looked at further elsewhere. */
export const shapes: { readonly [shape in KeywordShape]: Shape } = {
	schema: anything,
	any: anything,
	note: anything,
	text,
	reference: text,
	pattern: text,
	"schema-list": { holds: isFilledList, words: "a list of schemas" },
	"schema-map": { holds: isRecord, words: "an object of schemas" },
	count: { holds: (value) => Number.isSafeInteger(value) && Number(value) >= 0, words: "a whole number from 0" },
	number: { holds: (value) => typeof value === "number", words: "a number" },
	positive: { holds: (value) => typeof value === "number" && value > 0, words: "a number above 0" },
	boolean: { holds: (value) => typeof value === "boolean", words: "true or false" },
	names: { holds: isNames, words: "a list of different strings" },
	"names-map": {
		holds: (value) => isRecord(value) && Object.values(value).every(isNames),
		words: "an object of lists of different strings",
	},
	list: { holds: isFilledList, words: "a list that is not empty" },
	types: {
		holds: (value) => {
			const all: unknown[] = Array.isArray(value) ? value : [value];
			return all.length > 0 && isNames(all) && all.every((name) => typeNames.includes(String(name)));
		},
		words: `one or more of ${typeNames.join(", ")}`,
	},
};

export function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isFilledList(value: unknown): boolean {
	return Array.isArray(value) && value.length > 0;
}

function isNames(value: unknown): boolean {
	return (
		Array.isArray(value) && value.every((name) => typeof name === "string") && new Set(value).size === value.length
	);
}
