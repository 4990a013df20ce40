// Waits a little, then loops for ever.
export default {
	handle() {
		return new Promise(() => {
			setTimeout(() => {
				for (;;);
			}, 5);
		});
	},
};
