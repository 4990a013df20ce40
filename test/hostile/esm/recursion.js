// Calls itself without end.
const deeper = (n) => deeper(n + 1) + 1;
export default {
	async handle() {
		return deeper(0);
	},
};
