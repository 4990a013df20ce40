// Writes ten thousand log lines, each of them long.
export default {
	async handle() {
		const line = "x".repeat(20_000);
		// biome-ignore lint/suspicious/noConsole: the console of the sandbox
		for (let i = 0; i < 10_000; i++) console.log(i === 0 ? line : `line ${i}`);
		return { ok: true, output: { content: [{ type: "text", text: "done" }] } };
	},
};
