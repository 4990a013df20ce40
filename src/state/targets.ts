import { type ControlProcess, createControlProcessTarget } from "./control-process.js";
import { createFileTarget } from "./file.js";
import type { StateTarget } from "./target.js";

/** The native state targets by name, as the loaded set lists them. */
export const nativeStateTargets = ["control-process", "file"] as const;

/**
 * The table of native state targets, one a generation (rule R128: they are no kind of their own).
 *
 * @param options.controlProcess where the control process listens; without it that target fails by name
 * @param options.timeoutMs the longest wait of one publication to the control process; 2000 unless given
 */
export function createStateTargets(
	options: { readonly controlProcess?: ControlProcess; readonly timeoutMs?: number } = {},
): ReadonlyMap<string, StateTarget> {
	const control = createControlProcessTarget({ ...options, timeoutMs: options.timeoutMs ?? 2000 });
	return new Map([control, createFileTarget()].map((target) => [target.name, target]));
}
