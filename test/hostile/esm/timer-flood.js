// Sets timers without end.
export default {
	async handle() {
		let set = 0;
		try {
			for (; set < 1e6; set++) setTimeout(() => {}, 1e9);
		} catch (error) {
			return { ok: true, output: { content: [{ type: "text", text: `${set} ${error.message}` }] } };
		}
		return { ok: true, output: { content: [] } };
	},
};
