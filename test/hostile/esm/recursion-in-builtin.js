// Nests so deeply that the engine's own parser and printer recurse without end.
export default {
	async handle() {
		let nested = [];
		for (let i = 0; i < 100_000; i++) nested = [nested];
		return JSON.stringify(nested);
	},
};
