// Answers with a getter that never returns.
export default {
	async handle() {
		return {
			ok: true,
			get output() {
				for (;;);
			},
		};
	},
};
