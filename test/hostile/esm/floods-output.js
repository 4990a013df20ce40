// Answers with far more than it may.
export default {
	async handle() {
		return { ok: true, output: { content: [{ type: "text", text: "x".repeat(5_000_000) }] } };
	},
};
