import {
	type Context,
	defineMemory,
	definePlugin,
	defineProvider,
	defineTool,
	type Entry,
	type HostArguments,
	PluginFailure,
	text,
	textOf,
} from "@mortise/sdk";

const say = defineTool({
	name: "parrot_say",
	input: {
		type: "object",
		additionalProperties: false,
		required: ["text"],
		properties: { text: { type: "string", minLength: 1 }, times: { type: "integer", minimum: 1, maximum: 10 } },
	},
	run({ text, times = 1 }, { config }) {
		const said = config.loud === true ? `${text.toUpperCase()}!` : text;
		return Array(times).fill(said).join(" ");
	},
});

const provider = defineProvider({
	name: "parrot",
	models: [{ id: "parrot-1", features: [] }],
	chat({ messages }) {
		const last = messages.findLast((message) => message.role === "user");
		const said = last === undefined ? "nothing" : textOf(last.content);
		const usage = { input: said.length, output: said.length };
		return { content: text(`You said: ${said}`), toolCalls: [], usage, stop: "end" };
	},
});

// every call runs in a fresh instance: what is to be found again lies in the host's key-value space
const memory = defineMemory({
	name: "parrot",
	async store({ agent, key, ...parts }, context) {
		const { ms } = await context.host.now();
		const name = key ?? (await context.host.random({ bytes: 12 })).base64;
		const entry = { ...parts, key: name, at: new Date(ms).toISOString() };
		await kvOf(context)({ op: "set", key: placeOf(agent, name), value: entry as JsonValue });
		return { key: name };
	},
	async get({ agent, key }, context) {
		const { value } = await kvOf(context)({ op: "get", key: placeOf(agent, key) });
		return value === undefined ? {} : { entry: value as Entry };
	},
	async list({ agent, limit = 100, offset = 0, ...filter }, context) {
		return { entries: (await newest(context, agent, filter)).slice(offset, offset + limit) };
	},
	async recall({ agent, query, limit, ...filter }, context) {
		const words = query === "*" ? [] : wordsOf(query);
		const found = (await newest(context, agent, filter)).flatMap((entry) => {
			const held = wordsOf(entry.content);
			const score = words.length === 0 ? 1 : words.filter((word) => held.includes(word)).length / words.length;
			return score === 0 ? [] : [{ ...entry, score }];
		});
		return { entries: found.sort((a, b) => b.score - a.score).slice(0, limit) };
	},
	async forget({ agent, key }, context) {
		const { value } = await kvOf(context)({ op: "get", key: placeOf(agent, key) });
		await kvOf(context)({ op: "delete", key: placeOf(agent, key) });
		return { forgotten: value !== undefined };
	},
	async count({ agent, ...filter }, context) {
		return { count: (await newest(context, agent, filter)).length };
	},
});

export default definePlugin({ tools: [say], providers: [provider], memory });

type JsonValue = HostArguments<"kv">["value"];
type Filter = { readonly session?: string | undefined; readonly category?: string | string[] | undefined };

async function newest(context: Context, agent: string, { session, category }: Filter): Promise<Entry[]> {
	const kv = kvOf(context);
	const entries: Entry[] = [];
	for (let after = ""; ; ) {
		const { keys = [], more } = await kv({ op: "list", prefix: placeOf(agent, ""), after });
		// one by one: a call may have 64 host calls unanswered at a time
		for (const key of keys) {
			const { value } = await kv({ op: "get", key });
			if (value !== undefined) entries.push(value as Entry);
		}
		if (more !== true) break;
		after = keys.at(-1) ?? "";
	}
	entries.sort((a, b) => (a.at < b.at ? 1 : -1));
	const wanted = typeof category === "string" ? [category] : category;
	return entries.filter(
		(entry) =>
			(session === undefined || entry.session === session) &&
			(wanted === undefined || wanted.includes(entry.category ?? "")),
	);
}

function kvOf({ host }: Context): NonNullable<Context["host"]["kv"]> {
	if (host.kv === undefined) throw new PluginFailure("unauthorized", "kv is not granted");
	return host.kv;
}

function placeOf(agent: string, key: string): string {
	return `${encodeURIComponent(agent)}/${key}`;
}

function wordsOf(value: string): string[] {
	return value.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
