// Keeps waiting: each timer sets the next.
export default {
	async handle() {
		for (;;) await new Promise((resolve) => setTimeout(resolve, 5));
	},
};
