// Answers with nothing at all.
export default {
	async handle() {},
};
