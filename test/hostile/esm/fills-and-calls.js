// Fills memory to the brim, to the last small block, then keeps calling into the host, which needs some of it.
export default {
	async handle() {
		const all = [];
		for (let size = 1 << 20; size > 8; size >>= 1) {
			try {
				for (;;) all.push(new Uint8Array(size));
			} catch {}
		}
		let chain = { last: null };
		try {
			for (;;) chain = { chain };
		} catch {}
		for (let i = 0; i < 1000; i++) {
			try {
				setTimeout(() => [all, chain], 1);
				import(`./${i}.js`).catch(() => {});
				atob("YQ==");
			} catch {}
		}
	},
};
