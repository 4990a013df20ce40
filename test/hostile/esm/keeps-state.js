// Counts its calls in every place that could outlive one.
let inModule = 0;
export default {
	async handle() {
		inModule++;
		globalThis.calls = (globalThis.calls ?? 0) + 1;
		Object.prototype.calls ??= 0;
		Object.prototype.calls++;
		const text = [inModule, globalThis.calls, {}.calls].join();
		return { ok: true, output: { content: [{ type: "text", text }] } };
	},
};
