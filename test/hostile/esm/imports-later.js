// Tries every way of importing while it runs, and answers with what came of it.
const tries = [
	"node:fs",
	"fs",
	"/etc/passwd",
	"file:///etc/passwd",
	"https://example.test/x.js",
	"../x.js",
	"./a\0b.js",
	"./plugin.js?x",
	"data:text/javascript,export default 1",
];
export default {
	async handle() {
		const results = [];
		for (const specifier of tries) {
			results.push(
				await import(specifier).then(
					() => "imported",
					(error) => error.name,
				),
			);
		}
		return { ok: true, output: { content: [{ type: "text", text: [...new Set(results)].join() }] } };
	},
};
