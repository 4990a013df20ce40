import { isAddress, isPublicAddress } from "./address.js";

/**
 * A host pattern, read. Exact names and addresses, `*.suffix` (every name under it, not the suffix itself), `*`.
 * `port` is absent when the pattern names none: then it means the default port of the URL's scheme and no other.
 */
export type HostPattern = (
	| { readonly kind: "exact"; readonly host: string }
	| { readonly kind: "suffix"; readonly suffix: string }
	| { readonly kind: "any" }
) & { readonly port?: number };

/** Where a request goes, in the WHATWG URL's own spelling: lower case, punycode, IPv4 in dots, IPv6 in brackets. */
export type Target = { readonly scheme: "http" | "https"; readonly host: string; readonly port: number };

const defaultPorts = { http: 80, https: 443 } as const;

/** Where a URL points, or undefined when its scheme is neither `http` nor `https`. A trailing dot of the name is dropped. */
export function targetOf(url: URL): Target | undefined {
	const scheme = url.protocol === "https:" ? "https" : url.protocol === "http:" ? "http" : undefined;
	if (scheme === undefined) return undefined;
	const host = withoutTrailingDot(url.hostname);
	return { scheme, host, port: url.port === "" ? defaultPorts[scheme] : Number(url.port) };
}

/**
 * Reads a host pattern; undefined when it is none. Case, a trailing dot and Unicode names are normalised as a WHATWG
 * URL does. An IPv4 address in any other spelling than four decimal numbers (`127.1`, `0x7f000001`) is refused, so that
 * what an operator reads in a grant is what it grants.
 */
export function parseHostPattern(text: string): HostPattern | undefined {
	const split = /^(\*|(?:\*\.)?[^*:[\]/?#@\\\s%]+|\[[^\]]+\])(?::([1-9]\d{0,4}))?$/.exec(text);
	const name = split?.[1];
	if (split === null || name === undefined) return undefined;
	const port = split[2] === undefined ? undefined : Number(split[2]);
	if (port !== undefined && port > 65535) return undefined;
	const rest = port === undefined ? {} : { port };
	if (name === "*") return { kind: "any", ...rest };
	if (name.startsWith("*.")) {
		// the extra label makes `*.0.0.1` an invalid host rather than a wildcard over addresses
		const parent = hostOf(`x.${name.slice(2)}`);
		return parent === undefined || isAddress(parent) ? undefined : { kind: "suffix", suffix: parent.slice(2), ...rest };
	}
	const host = hostOf(name);
	if (host === undefined) return undefined;
	if (isAddress(host) && !host.startsWith("[") && host !== withoutTrailingDot(name)) return undefined;
	return { kind: "exact", host, ...rest };
}

/** A pattern as it is written. */
export function writeHostPattern(pattern: HostPattern): string {
	const name = pattern.kind === "exact" ? pattern.host : pattern.kind === "suffix" ? `*.${pattern.suffix}` : "*";
	return pattern.port === undefined ? name : `${name}:${pattern.port}`;
}

/** Whether a target's host and port match. Wildcards over names never match an address; `*` matches both. */
export function matchesHost(pattern: HostPattern, target: Target): boolean {
	if ((pattern.port ?? defaultPorts[target.scheme]) !== target.port) return false;
	if (pattern.kind === "any") return true;
	if (pattern.kind === "exact") return pattern.host === target.host;
	return !isAddress(target.host) && target.host.endsWith(`.${pattern.suffix}`);
}

/** As {@link matchesHost}, for what a manifest writes: there a `*` without a port means whichever hosts and ports are granted. */
export function asksForHost(pattern: HostPattern, target: Target): boolean {
	return isOpen(pattern) || matchesHost(pattern, target);
}

/** Whether a pattern is a `*` without a port. */
export function isOpen(pattern: HostPattern): boolean {
	return pattern.kind === "any" && pattern.port === undefined;
}

/**
 * Whether everything the second pattern matches over HTTPS is matched by the first. A wildcard covers no address and no
 * `localhost`, because only a literal grant opens those.
 */
export function coversHost(wide: HostPattern, narrow: HostPattern): boolean {
	if (wide.port !== narrow.port) return false;
	if (wide.kind === "exact") return narrow.kind === "exact" && narrow.host === wide.host;
	if (narrow.kind === "exact" && needsLiteralGrant(narrow.host)) return false;
	if (wide.kind === "any") return true;
	if (narrow.kind === "any") return false;
	const name = narrow.kind === "exact" ? narrow.host : `.${narrow.suffix}`;
	return name.endsWith(`.${wide.suffix}`);
}

/** Whether some target matches both patterns. */
export function intersectsHost(left: HostPattern, right: HostPattern): boolean {
	if (!portsMeet(left.port, right.port)) return false;
	if (left.kind === "any" || right.kind === "any") return true;
	if (left.kind === "exact" && right.kind === "exact") return left.host === right.host;
	if (left.kind === "suffix" && right.kind === "suffix")
		return `.${left.suffix}`.endsWith(`.${right.suffix}`) || `.${right.suffix}`.endsWith(`.${left.suffix}`);
	const [suffix, exact] =
		left.kind === "suffix" ? [left.suffix, right] : right.kind === "suffix" ? [right.suffix, left] : [];
	return exact?.kind === "exact" && !isAddress(exact.host) && exact.host.endsWith(`.${suffix}`);
}

/** Whether a name means this machine or its network by itself: `localhost`, single labels and the reserved local suffixes. */
export function isLocalName(host: string): boolean {
	if (isAddress(host)) return false;
	return !host.includes(".") || /\.(localhost|local|lan|internal|home\.arpa)$/.test(host);
}

function needsLiteralGrant(host: string): boolean {
	return isAddress(host) ? !isPublicAddress(host) : host === "localhost" || host.endsWith(".localhost");
}

function portsMeet(left: number | undefined, right: number | undefined): boolean {
	if (left === right) return true;
	const port = left ?? right;
	return (left === undefined || right === undefined) && (port === defaultPorts.http || port === defaultPorts.https);
}

function hostOf(name: string): string | undefined {
	const url = URL.canParse(`https://${name}/`) ? new URL(`https://${name}/`) : undefined;
	if (url === undefined || url.pathname !== "/" || url.username !== "" || url.port !== "") return undefined;
	const host = withoutTrailingDot(url.hostname);
	const isClean =
		host.startsWith("[") || /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(host);
	return isClean && host.length <= 253 ? host : undefined;
}

function withoutTrailingDot(host: string): string {
	return host.endsWith(".") ? host.slice(0, -1) : host;
}
