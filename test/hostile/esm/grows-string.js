// Fills memory with strings.
export default {
	async handle() {
		const all = [];
		for (;;) all.push("x".repeat(1 << 18) + all.length);
	},
};
