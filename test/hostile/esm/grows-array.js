// Fills memory with small objects.
export default {
	async handle() {
		const all = [];
		for (;;) all.push({ number: all.length });
	},
};
