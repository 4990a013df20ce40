// Fills memory, catches the refusal, and answers all the same: its own affair.
export default {
	async handle() {
		let all = [];
		try {
			for (;;) all.push(new Uint8Array(1 << 20));
		} catch {
			all = [];
		}
		return { ok: true, output: { content: [{ type: "text", text: "caught" }] } };
	},
};
