// A whole plugin, by hand: one door, an envelope in, an answer out.
export default {
	async handle({ op, input }) {
		if (op !== "tool.call") return { ok: false, failure: { code: "unknown_op", message: op } };
		return { ok: true, output: { content: [{ type: "text", text: `Hello, ${input.arguments.name}!` }] } };
	},
};
