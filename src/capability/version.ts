/** A protocol version as numbers; `bigint`, so that no digit is lost. */
export type Version = { readonly major: bigint; readonly minor: bigint };

const readable = /^v?(0|[1-9][0-9]{0,99})\.(0|[1-9][0-9]{0,99})(?:\.(?:0|[1-9][0-9]{0,99}))?$/;

/**
 * Reads a manifest's version, with or without `v` and a patch number, as `MAJOR.MINOR` (rule C5.1).
 * `undefined` when it cannot be read.
 */
export function readVersion(text: string): Version | undefined {
	const match = readable.exec(text);
	if (match?.[1] === undefined || match[2] === undefined) return undefined;
	return { major: BigInt(match[1]), minor: BigInt(match[2]) };
}

/** Whether a runtime that speaks `offered` can run an agent that needs `wanted`: same major, minor at or above. */
export function acceptsVersion(offered: Version, wanted: Version): boolean {
	return offered.major === wanted.major && wanted.minor <= offered.minor;
}

/** Orders versions as numbers, so that v0.10 comes after v0.9; texts that are no versions come last, as text. */
export function compareVersions(a: string, b: string): number {
	const left = readVersion(a);
	const right = readVersion(b);
	if (left === undefined || right === undefined)
		return left === right ? compareText(a, b) : left === undefined ? 1 : -1;
	if (left.major !== right.major) return left.major < right.major ? -1 : 1;
	if (left.minor !== right.minor) return left.minor < right.minor ? -1 : 1;
	return 0;
}

/** Orders texts by code unit: the same on every machine, whatever its locale. */
export function compareText(a: string, b: string): number {
	return a < b ? -1 : a > b ? 1 : 0;
}
