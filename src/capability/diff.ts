import { isDeepStrictEqual } from "node:util";
import type { RuntimeDocument } from "../contract/index.js";
import { escapeText } from "../errors.js";
import { sortKeys, sortRecords, sortTexts } from "./order.js";

/** One difference: a value that was added to or removed from a key, or a key whose value changed. */
export type DocumentChange =
	| { readonly change: "added" | "removed"; readonly key: string; readonly value: unknown }
	| { readonly change: "changed"; readonly key: string; readonly from: unknown; readonly to: unknown };

/**
 * What changed from one document to another, by key in order; members of lists one by one, their order ignored.
 * `[]` when they say the same. Pure.
 */
export function diffDocuments(a: RuntimeDocument, b: RuntimeDocument): readonly DocumentChange[] {
	const left: { readonly [key: string]: unknown } = a;
	const right: { readonly [key: string]: unknown } = b;
	return sortTexts([...Object.keys(left), ...Object.keys(right)]).flatMap((key) =>
		changesOf(key, left[key], right[key]),
	);
}

/** The changes as lines: `- key: value`, `+ key: value`, `~ key: old → new`; values as one line of JSON, escaped. */
export function diffLines(changes: readonly DocumentChange[]): readonly string[] {
	return changes.map((each) => {
		if (each.change === "changed") return `~ ${escapeText(each.key)}: ${line(each.from)} → ${line(each.to)}`;
		return `${each.change === "added" ? "+" : "-"} ${escapeText(each.key)}: ${line(each.value)}`;
	});
}

function changesOf(key: string, from: unknown, to: unknown): DocumentChange[] {
	if (isDeepStrictEqual(from, to)) return [];
	if (!Array.isArray(from ?? []) || !Array.isArray(to ?? [])) return [{ change: "changed", key, from, to }];
	const before: readonly unknown[] = Array.isArray(from) ? from : [];
	const after: readonly unknown[] = Array.isArray(to) ? to : [];
	return [
		...without(before, after).map((value): DocumentChange => ({ change: "removed", key, value })),
		...without(after, before).map((value): DocumentChange => ({ change: "added", key, value })),
	];
}

function without(values: readonly unknown[], others: readonly unknown[]): unknown[] {
	return sortRecords(values.filter((value) => !others.some((other) => isDeepStrictEqual(value, other))));
}

function line(value: unknown): string {
	return escapeText(JSON.stringify(sortKeys(value)) ?? "nothing");
}
