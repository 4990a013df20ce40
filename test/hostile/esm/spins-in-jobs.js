// Never gives the thread back: each promise job makes the next.
export default {
	async handle() {
		for (;;) await null;
	},
};
