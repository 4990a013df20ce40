import type { z } from "zod";
import { escapeText } from "./errors.js";

type Path = readonly (string | number)[];

/** One thing wrong with a value: where, and a sentence that names the place, what belongs there and what was found. */
export type Fault = {
	readonly path: Path;
	/** The key at the path is at fault, not its value. */
	readonly key: boolean;
	readonly message: string;
};
export type Checked<T> =
	| { readonly ok: true; readonly value: T }
	| { readonly ok: false; readonly faults: readonly Fault[] };

/** Past this many faults a value is not worth looking at further. */
const maxFaults = 100;

/**
 * Checks a value from outside against a schema, once, at the edge. A fault for each value that is wrong, in our own
 * words; one for each unknown key; of several about one value the first. Ends at about 100.
 *
 * @throws RangeError for a value nested deeper than the stack
 */
export function checkValue<S extends z.ZodType>(schema: S, value: unknown): Checked<z.output<S>> {
	// an empty message tells that the schema itself has no words for it
	const result = schema.safeParse(value, { error: () => "" });
	if (result.success) return { ok: true, value: result.data };
	const byPlace = new Map<string, Fault>();
	for (const issue of result.error.issues) {
		for (const fault of faultsOf(value, issue)) {
			const place = JSON.stringify(fault.path);
			if (!byPlace.has(place)) byPlace.set(place, fault);
		}
		if (byPlace.size >= maxFaults) break;
	}
	return { ok: false, faults: [...byPlace.values()] };
}

/** Faults in one line. */
export function faultText(faults: readonly Fault[]): string {
	return faults.map((fault) => fault.message).join("; ");
}

type Issue = z.core.$ZodIssue;

function faultsOf(value: unknown, issue: Issue): readonly Fault[] {
	const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
	const place = path.length === 0 ? "" : `${escapeText(path.join("."))}: `;
	if (issue.code === "unrecognized_keys")
		return issue.keys
			.slice(0, maxFaults)
			.map((key) => ({ path: [...path, key], key: true, message: `unknown key "${escapeText(key)}"` }));
	if (issue.code === "invalid_union") {
		const best = bestBranch(issue);
		if (best !== undefined)
			return best.flatMap((inner) => faultsOf(value, { ...inner, path: [...issue.path, ...inner.path] }));
	}
	if (issue.code === "invalid_key") {
		const message = `the key "${escapeText(String(path.at(-1) ?? ""))}" must be ${wantedBy(issue.issues)}`;
		return [{ path, key: true, message }];
	}
	const found = memberAt(value, path);
	const wanted = wantedOf(issue);
	const message = found.there
		? `${place}must be ${wanted}, not ${shownFor(issue, found.value)}`
		: `${place}is missing; it must be ${wanted}`;
	return [{ path, key: false, message }];
}

/** Of a union's branches, the one that went furthest in: a wrong value inside an object beats "not a text". */
function bestBranch(issue: Issue & { code: "invalid_union" }): readonly Issue[] | undefined {
	const deep = issue.errors.filter((branch) =>
		branch.some((inner) => inner.path.length > 0 || inner.code === "unrecognized_keys"),
	);
	return deep.length === 1 ? deep[0] : issue.errors.length === 1 ? issue.errors[0] : undefined;
}

function wantedBy(issues: readonly Issue[]): string {
	return [...new Set(issues.map(wantedOf))].join(", and ");
}

const types: { readonly [type: string]: string } = {
	string: "text",
	number: "a number",
	int: "a whole number",
	boolean: "true or false",
	array: "a list",
	object: "a mapping",
	record: "a mapping",
	null: "null",
};

/** What belongs in the place, to stand after "must be". The schema's own words come first. */
function wantedOf(issue: Issue): string {
	if (issue.message !== "") return issue.message.split("\n", 1)[0] ?? issue.message;
	switch (issue.code) {
		case "invalid_type":
			return types[issue.expected] ?? issue.expected;
		case "invalid_value": {
			const values = issue.values.map((value) => String(value)).join(", ");
			return issue.values.length === 1 ? values : `one of ${values}`;
		}
		case "too_small":
			return amount(issue, Number(issue.minimum), issue.inclusive === false ? "more than" : "at least");
		case "too_big":
			return amount(issue, Number(issue.maximum), issue.inclusive === false ? "less than" : "at most");
		case "invalid_format":
			return "pattern" in issue && issue.pattern !== undefined
				? `text of the form ${issue.pattern}`
				: `text in the form ${issue.format}`;
		case "not_multiple_of":
			return `a multiple of ${issue.divisor}`;
		case "invalid_union": {
			const branches = issue.errors.flatMap((branch) => (branch[0] === undefined ? [] : [wantedOf(branch[0])]));
			return branches.length === 0 ? "one of the forms allowed here" : [...new Set(branches)].join(", or ");
		}
		case "invalid_element":
			return `a collection whose entries are each ${wantedBy(issue.issues)}`;
		case "unrecognized_keys":
		case "invalid_key":
			return "a mapping with known keys only";
		case "custom":
			return "another value";
		default:
			return issue satisfies never;
	}
}

type Sized = { readonly origin: string; readonly exact?: boolean | undefined };

function amount({ origin, exact }: Sized, size: number, bound: string): string {
	const counted = `${exact === true ? "exactly" : bound} ${size}`;
	if (origin === "string") return `text of ${counted} character${size === 1 ? "" : "s"}`;
	if (origin === "array" || origin === "set" || origin === "map") return `a list of ${counted}`;
	return counted;
}

const maxShown = 60;

/** What was found: the value itself where it is short and plain. */
function shownFor(issue: Issue, value: unknown): string {
	if (typeof value === "string") {
		if (issue.code === "too_big" && issue.origin === "string") return `${value.length}`;
		const whole = escapeText(value);
		return `"${whole.length <= maxShown ? whole : `${whole.slice(0, maxShown)}…`}"`;
	}
	if (Array.isArray(value)) {
		if (value.length === 0) return "an empty list";
		return issue.code === "too_big" || issue.code === "too_small" ? `${value.length}` : "a list";
	}
	if (typeof value === "object" && value !== null) return "a mapping";
	// YAML reads 1.0 as a number and yes-like words as they are
	const quoted =
		issue.code === "invalid_type" && issue.expected === "string" && value !== null ? " (put it in quotes)" : "";
	return `${String(value)}${quoted}`;
}

function memberAt(value: unknown, path: Path): { readonly there: boolean; readonly value?: unknown } {
	let here: unknown = value;
	for (const part of path) {
		if (typeof here !== "object" || here === null || !Object.hasOwn(here, part)) return { there: false };
		here = (here as Record<string | number, unknown>)[part];
	}
	return { there: here !== undefined, value: here };
}
