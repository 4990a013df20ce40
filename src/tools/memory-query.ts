/** The filters that recall, list and count share. Absent means all, an empty list none. */
export type Filters = {
	readonly agent: string;
	readonly session?: string | undefined;
	readonly category?: string | string[] | undefined;
	readonly namespace?: string | undefined;
	readonly since?: string | undefined;
	readonly until?: string | undefined;
};

const maxWords = 64;

/** A SQL condition over `memory_entries e` and its values. Nothing of a value becomes SQL text. */
export function filterWords(filters: Filters): { readonly where: string; readonly values: readonly unknown[] } {
	const parts = ["e.agent = ?"];
	const values: unknown[] = [filters.agent];
	const add = (part: string, ...more: readonly unknown[]): void => {
		parts.push(part);
		values.push(...more);
	};
	if (filters.session !== undefined) add("e.session = ?", filters.session);
	if (filters.namespace !== undefined) add("e.has_namespace = 1 AND e.namespace = ?", filters.namespace);
	// one value whatever the length of the list, so that no list is too long for the statement
	if (filters.category !== undefined) {
		add("e.category IN (SELECT value FROM json_each(?))", JSON.stringify([filters.category].flat()));
	}
	if (filters.since !== undefined) add("e.at >= ?", sameForm(filters.since));
	if (filters.until !== undefined) add("e.at < ?", sameForm(filters.until));
	return { where: parts.join(" AND "), values };
}

/**
 * An FTS5 query for any word of a text, or undefined when it has none. Each word is quoted, so that operators, column
 * filters and quotes of the text mean nothing.
 */
export function ftsQuery(text: string): string | undefined {
	const words = text.normalize("NFC").match(/[\p{L}\p{N}\p{M}\p{Co}]+/gu);
	if (words === null) return undefined;
	return [...new Set(words)]
		.slice(0, maxWords)
		.map((word) => `"${word}"`)
		.join(" OR ");
}

// stored times have milliseconds; two spellings of one time must compare as equal
function sameForm(time: string): string {
	return new Date(time).toISOString();
}
