// Changes whatever it can reach: prototypes, globals, what the host's own code inside the engine might use.
const evil = () => "evil";
for (const holder of [Object, Array, String, Number, Promise, Map, Error, Function, JSON, Reflect, Symbol]) {
	for (const target of [holder.prototype, holder]) {
		if (target === undefined || target === null) continue;
		for (const key of Object.getOwnPropertyNames(target)) {
			if (key === "prototype" || key === "constructor") continue;
			try {
				target[key] = evil;
			} catch {}
		}
	}
}
Object.prototype.polluted = true;
Array.prototype.toJSON = evil;
globalThis.JSON = { parse: evil, stringify: evil };
export default {
	handle() {
		return { ok: true, output: { content: [{ type: "text", text: "polluted" }] } };
	},
};
