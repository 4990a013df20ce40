// Runs in: worker.
import type { OpenPlugin } from "../contract/index.js";
import { openEsm } from "./esm/esm.js";
import { openWasm } from "./wasm/wasm.js";

/**
 * Makes a plugin callable, in the engine its profile asks for.
 *
 * @throws HostError when the code cannot be opened at all
 */
export const openPlugin: OpenPlugin = (code, host) => {
	switch (code.body.profile) {
		case "wasm":
			return openWasm(code, host);
		case "wasm-js":
			return openEsm(code, host);
		default:
			return code.body satisfies never;
	}
};
