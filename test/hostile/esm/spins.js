// Loops for ever in JavaScript.
export default {
	async handle() {
		for (;;);
	},
};
