// Answers in a shape of its own.
export default {
	async handle() {
		return { status: "fine" };
	},
};
