// Asks the host far more often than it may, and all at once.
export default {
	async handle(_envelope, host) {
		const refused = [];
		const calls = Array.from({ length: 5000 }, (_, i) =>
			host.kv({ op: "get", key: `k${i}` }).catch((error) => refused.push(error.code)),
		);
		await Promise.all(calls);
		const codes = [...new Set(refused)].join();
		return { ok: true, output: { content: [{ type: "text", text: `${refused.length} ${codes}` }] } };
	},
};
