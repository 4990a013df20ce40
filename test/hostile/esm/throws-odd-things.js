// Throws something whose every property fights back.
export default {
	async handle() {
		throw new Proxy(
			{},
			{
				get() {
					throw new Error("again");
				},
			},
		);
	},
};
