// Gives a promise that nothing can settle.
export default {
	handle() {
		return new Promise(() => {});
	},
};
