import type { Context } from "./context.js";
import { setEnabled } from "./plugin-switch.js";

/** `plugin disable ID`. */
export function run(context: Context, args: readonly string[]): Promise<number> {
	return setEnabled(context, args[0] ?? "", false);
}
