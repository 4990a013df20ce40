import { defineMemory, type Entry, type KeyInput, type ListInput, type Memory } from "@mortise/sdk";

/** One way in which a store can break its promises. */
export type Sabotage =
	| "ignores agents"
	| "takes an empty list for all"
	| "lists the oldest first"
	| "keeps what was replaced"
	| "forgets nothing"
	| "drops metadata"
	| "finds everything"
	| "ignores the limit"
	| "includes until"
	| "ignores namespaces"
	| "strips what is not ASCII"
	| "takes the query for a pattern"
	| "reuses a made key"
	| "fails on the absent";

type Owned = Entry & { readonly agent: string };

/** A memory store in an array, whole or broken in one way. */
export function aMemory(sabotage?: Sabotage): Memory {
	const broken = (way: Sabotage) => way === sabotage;
	let entries: Owned[] = [];
	let made = 0;

	const isAt = (entry: Owned, { agent, key, namespace }: KeyInput) =>
		(broken("ignores agents") || entry.agent === agent) &&
		entry.key === key &&
		(broken("ignores namespaces") || entry.namespace === namespace);
	const fits = (entry: Owned, { agent, session, category, namespace, since, until }: ListInput) => {
		const categories = category === undefined ? undefined : [category].flat();
		const all = categories === undefined || (broken("takes an empty list for all") && categories.length === 0);
		return (
			(broken("ignores agents") || entry.agent === agent) &&
			(session === undefined || entry.session === session) &&
			(all || (entry.category !== undefined && categories?.includes(entry.category) === true)) &&
			(namespace === undefined || broken("ignores namespaces") || entry.namespace === namespace) &&
			(since === undefined || entry.at >= since) &&
			(until === undefined || entry.at < until || (broken("includes until") && entry.at === until))
		);
	};
	const newest = (input: ListInput) => {
		const found = entries.filter((entry) => fits(entry, input)).toReversed();
		return broken("lists the oldest first") ? found.toReversed() : found;
	};
	const shown = ({ agent: _agent, ...entry }: Owned): Entry => entry;
	const wordsOf = (text: string) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);

	return defineMemory({
		name: "m",
		features: ["namespaces", "since"],
		store(input) {
			const { metadata, ...rest } = input;
			const key = input.key ?? (broken("reuses a made key") ? "made" : `made-${made++}`);
			const place = {
				agent: input.agent,
				key,
				...(input.namespace === undefined ? {} : { namespace: input.namespace }),
			};
			if (!broken("keeps what was replaced")) entries = entries.filter((entry) => !isAt(entry, place));
			entries.push({
				...rest,
				key,
				content: broken("strips what is not ASCII") ? input.content.replace(/[^ -~]/g, "") : input.content,
				...(metadata === undefined || broken("drops metadata") ? {} : { metadata }),
				at: new Date().toISOString(),
			});
			return { key };
		},
		recall({ query, limit, ...input }) {
			const words = [...wordsOf(query)];
			if (broken("takes the query for a pattern")) new RegExp(query);
			const everything = query === "" || query === "*";
			const scored = newest(input).map((entry) => {
				const own = wordsOf(entry.content);
				const score = everything ? 1 : words.filter((word) => own.has(word)).length / Math.max(words.length, 1);
				return { ...shown(entry), score };
			});
			const found = broken("finds everything") ? scored : scored.filter(({ score }) => score > 0);
			const sorted = found.toSorted((one, other) => other.score - one.score);
			return { entries: broken("ignores the limit") ? sorted : sorted.slice(0, limit) };
		},
		get(input) {
			const entry = entries.find((one) => isAt(one, input));
			if (entry === undefined && broken("fails on the absent")) throw new Error("absent");
			return entry === undefined ? {} : { entry: shown(entry) };
		},
		list({ limit = 100, offset = 0, ...input }) {
			const found = newest(input).map(shown);
			return { entries: broken("ignores the limit") ? found : found.slice(offset, offset + limit) };
		},
		forget(input) {
			const before = entries.length;
			const kept = entries.filter((entry) => !isAt(entry, input));
			const forgotten = kept.length < before;
			if (!broken("forgets nothing")) entries = kept;
			return { forgotten };
		},
		count: (input) => ({ count: newest(input).length }),
	});
}
