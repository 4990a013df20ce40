// Looks for anything of the host: by name, through constructors, through the host object and through errors.
const names = [
	"process",
	"require",
	"module",
	"global",
	"Buffer",
	"fetch",
	"WebAssembly",
	"XMLHttpRequest",
	"Deno",
	"Bun",
	"std",
	"os",
	"Worker",
	"Atomics",
	"setInterval",
	"navigator",
	"performance",
];
export default {
	async handle(_envelope, host) {
		const found = names.filter((name) => globalThis[name] !== undefined);
		const escapes = [
			() => Function("return this")(),
			() => host.log.constructor("return this")(),
			() => host.log.constructor.constructor("return this")(),
			() => (async () => {}).constructor("return this")(),
			// biome-ignore lint/suspicious/noConsole: the console of the sandbox
			() => console.log.constructor("return this")(),
			() => setTimeout.constructor("return this")(),
			() => Object.getPrototypeOf(host).constructor.constructor("return this")(),
		];
		for (const attempt of escapes) {
			try {
				const reached = attempt();
				if (reached !== globalThis && !(reached instanceof Promise)) found.push("another realm");
				for (const name of names) if (reached[name] !== undefined) found.push(name);
			} catch (error) {
				found.push(error.message);
			}
		}
		const members = Object.keys(host).sort().join();
		return { ok: true, output: { content: [{ type: "text", text: `${found.join()}|${members}` }] } };
	},
};
