import { PluginFailure } from "@mortise/sdk";

const longest = { agent: 100, namespace: 80, key: 256 };

/** Where an entry is: the parts that name it. An entry without a namespace has the namespace `""`. */
export type Place = { readonly agent: string; readonly namespace: string; readonly key: string };

/** The key of one entry. */
export function entryKey({ agent, namespace, key }: Place): string {
	return `e/${part("agent", agent)}/${part("namespace", namespace)}/${part("key", key)}`;
}

/** What the keys of an agent's index pages begin with. */
export function pagePrefix(agent: string): string {
	return `p/${part("agent", agent)}/`;
}

/** The key of one index page. Padded, so that the order of keys is the order of pages. */
export function pageKey(agent: string, page: number): string {
	return `${pagePrefix(agent)}${String(page).padStart(6, "0")}`;
}

function part(what: keyof typeof longest, value: string): string {
	const text = value.replaceAll("%", "%25").replaceAll("/", "%2F");
	if (text.length <= longest[what]) return text;
	throw new PluginFailure("invalid_input", `${what} is longer than the ${longest[what]} characters this store takes`);
}
