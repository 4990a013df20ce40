// Throws, with a message that tries to write to the operator's terminal.
export default {
	async handle() {
		throw new TypeError("no\u001b[2J\nway \u202e");
	},
};
