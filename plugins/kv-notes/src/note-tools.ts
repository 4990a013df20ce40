import { type Context, defineTool, failure } from "@mortise/sdk";
import { notes } from "./memory.js";

const namespace = "notes";
const mostListed = 1000;
const title = { type: "string", minLength: 1, maxLength: 200 } as const;

/** `note_add { title, text }`. */
export const noteAdd = defineTool({
	name: "note_add",
	input: {
		type: "object",
		additionalProperties: false,
		required: ["title", "text"],
		properties: { title, text: { type: "string" } },
	},
	async run(input, context) {
		const place = { agent: agentOf(context), namespace, key: input.title };
		await notes.store({ ...place, content: input.text, category: "note" }, context);
		return `noted: ${input.title}`;
	},
});

/** `note_list {}`. */
export const noteList = defineTool({
	name: "note_list",
	input: { type: "object", additionalProperties: false, properties: {} },
	async run(_input, context) {
		const { entries } = await notes.list({ agent: agentOf(context), namespace, limit: mostListed }, context);
		const listed = entries.map(({ key, at }) => ({ title: key, at }));
		const content = listed.length === 0 ? "there are no notes" : listed.map((note) => note.title).join("\n");
		return { content, structured: { notes: listed } };
	},
});

/** `note_get { title }`. */
export const noteGet = defineTool({
	name: "note_get",
	input: { type: "object", additionalProperties: false, required: ["title"], properties: { title } },
	async run(input, context) {
		const { entry } = await notes.get({ agent: agentOf(context), namespace, key: input.title }, context);
		return entry === undefined
			? failure(`there is no note with the title ${JSON.stringify(input.title)}`)
			: entry.content;
	},
});

// outside a turn there is no agent; such notes lie together under a name no agent can have
function agentOf({ agent }: Context): string {
	return agent ?? "/";
}
