// Answers with getters that count how often they are read, and with a toJSON.
export default {
	async handle() {
		let reads = 0;
		const part = {
			type: "text",
			get text() {
				reads++;
				return `read ${reads}`;
			},
		};
		return { ok: true, output: { content: [{ toJSON: () => part }] } };
	},
};
