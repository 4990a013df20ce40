// Asks the host with arguments of many megabytes.
export default {
	async handle(_envelope, host) {
		const code = await host.kv({ op: "set", key: "k", value: "x".repeat(4_000_000) }).catch((error) => error.code);
		return { ok: true, output: { content: [{ type: "text", text: code }] } };
	},
};
