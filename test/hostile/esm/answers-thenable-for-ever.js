// Answers with an object whose then gives yet another.
const again = () => ({
	// biome-ignore lint/suspicious/noThenProperty: that is the attack
	then(resolve) {
		resolve(again());
	},
});
export default { handle: () => again() };
