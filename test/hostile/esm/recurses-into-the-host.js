// Calls into the host from every depth of an endless recursion, so that the host's side runs out of stack.
const nest = (n) => {
	try {
		setTimeout(() => n, 1e6);
	} catch {}
	return [n].map(() => "a".replace(/a/, () => nest(n + 1)));
};
export default {
	async handle() {
		return nest(0);
	},
};
