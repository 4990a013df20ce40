import { z } from "zod";

/** The isolation profiles, weakest first; `wasm-js` and `wasm` are equal (contract/shapes, "Isolation: one order"). */
export const IsolationProfile = z.enum([
	"in-process",
	"worker-thread",
	"restricted-process",
	"wasm-js",
	"wasm",
	"sandbox-process",
	"container",
]);
export type IsolationProfile = z.infer<typeof IsolationProfile>;
