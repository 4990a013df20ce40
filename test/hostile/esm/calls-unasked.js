// Uses a host function that nobody asked for.
export default {
	async handle(_envelope, host) {
		return { ok: true, output: { content: [{ type: "text", text: `${typeof host.secret} ${"secret" in host}` }] } };
	},
};
