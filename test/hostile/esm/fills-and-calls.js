// Fills memory to the brim, then keeps calling into the host, which needs some of it.
export default {
	async handle() {
		const all = [];
		for (let size = 1 << 20; size > 8; size >>= 1) {
			try {
				for (;;) all.push(new Uint8Array(size));
			} catch {}
		}
		for (let i = 0; i < 1000; i++) {
			try {
				setTimeout(() => all, 1);
				import(`./${i}.js`).catch(() => {});
				atob("YQ==");
			} catch {}
		}
	},
};
