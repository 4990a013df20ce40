// Asks the host far more often than it may, one call after the other.
export default {
	async handle(_envelope, host) {
		let answered = 0;
		try {
			for (; answered < 5000; answered++) await host.now({});
		} catch (error) {
			return { ok: true, output: { content: [{ type: "text", text: `${answered} ${error.code}` }] } };
		}
		return { ok: true, output: { content: [] } };
	},
};
