// A pattern that takes exponential time.
export default {
	async handle() {
		return /^(a+)+$/.test(`${"a".repeat(40)}b`);
	},
};
