import { PluginFailure } from "@mortise/sdk";

// One entry is one value and a few empty values whose keys are the index:
//   e/AGENT/NAMESPACE/KEY                 the entry
//   t/AGENT/TIME/NAMESPACE/KEY            by time, newest first (TIME counts down)
//   w/AGENT/WORD/TIME/NAMESPACE/KEY       by word, newest first
// The index needs no read before a write, so two writers cannot lose each other's entries.

const longest = { agent: 100, namespace: 80, key: 256 };
const lastTime = 9_999_999_999_999;

/** Where an entry is: the parts that name it. An entry without a namespace has the namespace `""`. */
export type Place = { readonly agent: string; readonly namespace: string; readonly key: string };
/** An entry as the index tells of it. `time` is in milliseconds since 1970. */
export type Indexed = {
	readonly namespace: string;
	readonly key: string;
	readonly time: number;
	readonly word?: string;
};

export function entryKey({ agent, namespace, key }: Place): string {
	return `e/${part("agent", agent)}/${part("namespace", namespace)}/${part("key", key)}`;
}

export function timePrefix(agent: string): string {
	return `t/${part("agent", agent)}/`;
}

export function timeKey({ agent, namespace, key }: Place, time: number): string {
	return `${timePrefix(agent)}${down(time)}/${part("namespace", namespace)}/${part("key", key)}`;
}

export function wordPrefix(agent: string, word: string): string {
	return `w/${part("agent", agent)}/${escaped(word)}/`;
}

export function wordKey({ agent, namespace, key }: Place, word: string, time: number): string {
	return `${wordPrefix(agent, word)}${down(time)}/${part("namespace", namespace)}/${part("key", key)}`;
}

/** Reads what follows an index prefix. */
export function indexed(prefix: string, key: string): Indexed {
	const [time = "", namespace = "", own = ""] = key.slice(prefix.length).split("/");
	return { time: lastTime - Number(time), namespace: plainOf(namespace), key: plainOf(own) };
}

function part(what: keyof typeof longest, value: string): string {
	const text = escaped(value);
	if (text.length > longest[what])
		throw new PluginFailure(
			"invalid_input",
			`${what} is longer than the ${longest[what]} characters this store can take`,
		);
	return text;
}

function escaped(value: string): string {
	return value.replaceAll("%", "%25").replaceAll("/", "%2F");
}

function plainOf(value: string): string {
	return value.replaceAll("%2F", "/").replaceAll("%25", "%");
}

function down(time: number): string {
	return String(lastTime - Math.min(Math.max(Math.floor(time), 0), lastTime)).padStart(13, "0");
}
