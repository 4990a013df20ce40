// Uses a host function that was asked for and not granted, and lets the refusal through.
export default {
	async handle(_envelope, host) {
		await host.http({ method: "GET", url: "https://api.acme.test/" });
		return { ok: true, output: { content: [] } };
	},
};
