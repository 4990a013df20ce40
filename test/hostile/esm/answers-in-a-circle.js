// Answers with something that is no JSON.
export default {
	async handle() {
		const output = {};
		output.output = output;
		return { ok: true, output };
	},
};
