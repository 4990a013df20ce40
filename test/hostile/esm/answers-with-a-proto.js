// Answers with a member named __proto__, as an own property.
export default {
	async handle() {
		return JSON.parse('{"ok":true,"output":{"content":[],"structured":{"a":1,"__proto__":{"polluted":true}}}}');
	},
};
