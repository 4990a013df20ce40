import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const sdk = fileURLToPath(new URL("./sdk/src", import.meta.url));

export default defineConfig({
	resolve: {
		alias: [
			{ find: /^@mortise\/sdk$/, replacement: `${sdk}/index.ts` },
			{ find: /^@mortise\/sdk\/contract$/, replacement: `${sdk}/contract/index.ts` },
			{ find: /^@mortise\/sdk\/testing$/, replacement: `${sdk}/testing/index.ts` },
		],
	},
	test: {
		include: ["test/**/*.test.ts"],
		pool: "forks",
		maxWorkers: 2,
		testTimeout: 30_000,
		hookTimeout: 60_000,
	},
});
