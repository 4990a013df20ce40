// Tries to catch being stopped and goes on.
export default {
	async handle() {
		for (;;) {
			try {
				for (;;);
			} catch {
			} finally {
				globalThis.tries = (globalThis.tries ?? 0) + 1;
			}
		}
	},
};
