import type { EffectivePermissions } from "../contract/index.js";
import { classifyAddress, isAddress } from "./address.js";
import {
	asksForHost,
	type HostPattern,
	isLocalName,
	matchesHost,
	parseHostPattern,
	type Target,
} from "./host-pattern.js";

/** Whether a plugin may send to a target. `literal`: a grant names exactly this host. `named`: not only a bare `*` grants it. */
export type HostDecision =
	| { readonly ok: true; readonly literal: boolean; readonly named: boolean }
	| { readonly ok: false; readonly reason: "not-asked" | "not-granted" | "plain-http" };

/**
 * Decides by patterns alone: asked by the manifest and granted by the operator. `https` needs both to match; plain `http`
 * also needs a grant that names the host exactly, since what travels in clear is anybody's to read and change.
 */
export function decideHost(http: EffectivePermissions["http"], target: Target): HostDecision {
	if (http === undefined || !patterns(http.hosts).some((pattern) => asksForHost(pattern, target)))
		return { ok: false, reason: "not-asked" };
	const granting = patterns(http.granted).filter((pattern) => matchesHost(pattern, target));
	if (granting.length === 0) return { ok: false, reason: "not-granted" };
	const literal = granting.some((pattern) => pattern.kind === "exact");
	if (target.scheme === "http" && !literal) return { ok: false, reason: "plain-http" };
	return { ok: true, literal, named: granting.some((pattern) => pattern.kind !== "any") };
}

/**
 * Whether a checked name may lead to this address. Public: always. A private network: when a grant names the host
 * literally. Loopback, link-local, metadata and the rest: when the grant names the address itself, or the host is a
 * `localhost` name and the address is loopback. So no domain can be pointed at the machine's own services.
 */
export function mayReachAddress(request: {
	readonly granted: readonly string[];
	readonly target: Target;
	readonly address: string;
}): { readonly ok: true } | { readonly ok: false; readonly range: string } {
	const { granted, target, address } = request;
	const found = classifyAddress(address);
	if (found.class === "public") return { ok: true };
	const exact = patterns(granted).filter((pattern) => pattern.kind === "exact");
	const isNamed = exact.some((pattern) => matchesHost(pattern, target));
	const isLocalhost = target.host === "localhost" || target.host.endsWith(".localhost");
	const host = isAddress(address) && address.includes(":") ? `[${address}]` : address;
	const normal = URL.canParse(`http://${host}/`) ? new URL(`http://${host}/`).hostname : address;
	const isAddressNamed = exact.some((pattern) => matchesHost(pattern, { ...target, host: normal }));
	if (isNamed && (found.class === "private" || (found.range === "loopback" && isLocalhost) || isAddressNamed))
		return { ok: true };
	return { ok: false, range: found.range };
}

/** Whether a secret may travel to the target: over TLS, or in clear to this machine and its own network only. */
export function maySendSecret(target: Target): boolean {
	if (target.scheme === "https") return true;
	return isAddress(target.host) ? classifyAddress(target.host).class !== "public" : isLocalName(target.host);
}

const parsed = new Map<string, HostPattern | undefined>();

function patterns(texts: readonly string[]): HostPattern[] {
	return texts.flatMap((text) => {
		if (!parsed.has(text)) {
			if (parsed.size >= 4096) parsed.clear();
			parsed.set(text, parseHostPattern(text));
		}
		return parsed.get(text) ?? [];
	});
}
