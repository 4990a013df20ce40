import type { Limits } from "@mortise/sdk/contract";
import type { EffectiveLimits } from "../contract/index.js";

/** What a bundle gets that asks for nothing. */
export const defaultLimits: EffectiveLimits = {
	memoryBytes: 64 * 1024 ** 2,
	cpuMs: 500,
	timeoutMs: 10_000,
	outputBytes: 256 * 1024,
};

/** The most a bundle can ask for unless the operator says otherwise. */
export const defaultCeiling: EffectiveLimits = {
	memoryBytes: 256 * 1024 ** 2,
	cpuMs: 2000,
	timeoutMs: 120_000,
	outputBytes: 4 * 1024 ** 2,
};

const sizeUnits: Readonly<Record<string, number>> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };
const durationUnits: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

/** `64MiB` in bytes. The text has passed the contract's `Size`. */
export function parseSize(text: string): number {
	return quantity(text, sizeUnits);
}

/** `250ms` in milliseconds. The text has passed the contract's `Duration`. */
export function parseDuration(text: string): number {
	return quantity(text, durationUnits);
}

/**
 * The limits in force for one bundle. The author's wish (or the default) under the ceiling; a value the operator set for
 * this very bundle is taken as it is.
 *
 * @param wish `limits` of `plugin.yaml`
 * @param granted `grants.ID.limits` of the configuration
 * @param ceiling `limits` of the configuration; {@link defaultCeiling} stands in for what it leaves out
 */
export function effectiveLimits(
	wish: Limits | undefined,
	granted: Limits | undefined,
	ceiling: Limits | undefined,
): EffectiveLimits {
	const asked = readLimits(wish);
	const operator = readLimits(granted);
	const highest = { ...defaultCeiling, ...readLimits(ceiling) };
	const pick = (name: keyof EffectiveLimits): number =>
		operator[name] ?? Math.min(asked[name] ?? defaultLimits[name], highest[name]);
	return {
		memoryBytes: pick("memoryBytes"),
		cpuMs: pick("cpuMs"),
		timeoutMs: pick("timeoutMs"),
		outputBytes: pick("outputBytes"),
	};
}

function readLimits(limits: Limits | undefined): Partial<EffectiveLimits> {
	return {
		...(limits?.memory === undefined ? {} : { memoryBytes: parseSize(limits.memory) }),
		...(limits?.cpu === undefined ? {} : { cpuMs: parseDuration(limits.cpu) }),
		...(limits?.timeout === undefined ? {} : { timeoutMs: parseDuration(limits.timeout) }),
		...(limits?.output === undefined ? {} : { outputBytes: parseSize(limits.output) }),
	};
}

function quantity(text: string, units: Readonly<Record<string, number>>): number {
	const match = /^(\d+)([A-Za-z]+)$/.exec(text);
	return Number(match?.[1]) * (units[match?.[2] ?? ""] ?? Number.NaN);
}
