// Searches for hours inside a native function, where the engine's own interrupt is never asked.
export default {
	async handle() {
		const half = "a".repeat(1e6);
		return (half + half).indexOf(`${half}b`);
	},
};
