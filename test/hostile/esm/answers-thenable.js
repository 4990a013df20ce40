// Answers with an object that has a then: what it resolves to is the answer.
export default {
	handle() {
		return {
			// biome-ignore lint/suspicious/noThenProperty: that is the attack
			then(resolve) {
				resolve({ ok: true, output: { content: [{ type: "text", text: "then" }] } });
				resolve({ ok: true, output: { content: [{ type: "text", text: "again" }] } });
			},
		};
	},
};
