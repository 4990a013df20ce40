import ipaddr from "ipaddr.js";

/**
 * What an IP address is for the guard. `public`: global unicast. `private`: a network of one's own (RFC 1918, RFC 6598,
 * RFC 4193). `special`: everything else: loopback, link-local, cloud metadata, multicast, reserved, and every form that
 * carries an IPv4 address inside an IPv6 one (mapped, NAT64, 6to4, Teredo).
 */
export type AddressClass = "public" | "private" | "special";

/** Addresses inside otherwise ordinary ranges where clouds serve credentials and configuration to a machine. */
const metadata = new Set(["169.254.169.254", "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"]);
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");
const privateRanges = new Set(["private", "carrierGradeNat", "uniqueLocal"]);

/** Whether a URL's host is an IP address, with or without brackets. */
export function isAddress(host: string): boolean {
	return ipaddr.isValid(bare(host));
}

/** The class of an address, and the range it lies in for messages. What is no address is `special`. */
export function classifyAddress(address: string): { readonly class: AddressClass; readonly range: string } {
	const text = bare(address);
	if (!ipaddr.isValid(text)) return { class: "special", range: "unreadable" };
	const parsed = ipaddr.parse(text);
	if (metadata.has(parsed.toString())) return { class: "special", range: "metadata" };
	const range = parsed.range();
	if (privateRanges.has(range)) return { class: "private", range };
	if (range !== "unicast") return { class: "special", range };
	// ipaddr.js calls every IPv6 address it has no name for unicast; only 2000::/3 is given out
	const isGlobal = !(parsed instanceof ipaddr.IPv6) || parsed.match(globalUnicast);
	return isGlobal ? { class: "public", range } : { class: "special", range: "unassigned" };
}

/** Whether an address may be reached without a grant that names its host. */
export function isPublicAddress(address: string): boolean {
	return classifyAddress(address).class === "public";
}

function bare(host: string): string {
	return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}
