// Walks an array-like of nine quadrillion entries inside a native function.
export default {
	async handle() {
		return Array.prototype.indexOf.call({ length: Number.MAX_SAFE_INTEGER }, 1);
	},
};
