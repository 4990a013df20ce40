import { randomBytes } from "node:crypto";

/** Whose a placeholder is. */
export type PlaceholderOwner = { readonly job: string; readonly bundle: string; readonly name: string };

/** What plugins hold instead of secrets: random, one for each job, bundle and name, worthless to anybody else. */
export type Placeholders = {
	/** The placeholder of a secret; the same one when asked again in the same job. */
	readonly issue: (owner: PlaceholderOwner) => string;
	readonly ownerOf: (placeholder: string) => PlaceholderOwner | undefined;
	/** The placeholders of one bundle in one job. */
	readonly heldBy: (job: string, bundle: string) => readonly string[];
	readonly endJob: (job: string) => void;
};

/** Finds everything shaped like a placeholder, known or not. */
export const placeholderPattern = /mortise-secret-[0-9a-f]{32}/gi;

export function createPlaceholders(): Placeholders {
	const jobs = new Map<string, Map<string, string>>();
	const owners = new Map<string, PlaceholderOwner>();
	return {
		issue: ({ job, bundle, name }) => {
			const held = jobs.get(job) ?? new Map<string, string>();
			jobs.set(job, held);
			const key = `${bundle}\n${name}`;
			const placeholder = held.get(key) ?? `mortise-secret-${randomBytes(16).toString("hex")}`;
			held.set(key, placeholder);
			owners.set(placeholder, { job, bundle, name });
			return placeholder;
		},
		ownerOf: (placeholder) => owners.get(placeholder),
		heldBy: (job, bundle) =>
			[...(jobs.get(job) ?? [])].flatMap(([key, value]) => (key.startsWith(`${bundle}\n`) ? [value] : [])),
		endJob: (job) => {
			for (const placeholder of jobs.get(job)?.values() ?? []) owners.delete(placeholder);
			jobs.delete(job);
		},
	};
}
