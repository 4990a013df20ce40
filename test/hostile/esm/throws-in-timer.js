// Throws where no promise catches it.
export default {
	handle() {
		return new Promise(() => {
			setTimeout(() => {
				throw new Error("late");
			}, 5);
		});
	},
};
