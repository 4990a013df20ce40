import { type HostFunction, type Manifest, ungatedHostFunctions } from "@mortise/sdk/contract";
import type { EffectivePermissions, Grant, PluginCode } from "../contract/index.js";
import { coversHost, intersectsHost, isOpen, parseHostPattern, writeHostPattern } from "./host-pattern.js";

/** Everything a manifest asks for that `mortise grant` can give, in the order of the manifest, each once. */
export function grantWords(manifest: Pick<Manifest, "permissions">): readonly string[] {
	const { http, secrets, kv } = manifest.permissions ?? {};
	const hosts = (http?.hosts ?? []).map((host) => `http:${normalHost(host)}`);
	const names = (secrets ?? []).map((secret) => `secret:${secret.name}`);
	return [...new Set([...hosts, ...names, ...(kv === true ? ["kv"] : [])])];
}

/**
 * What a plugin may do: asked by its manifest ∩ granted by the operator (contract/shapes, "Authority"). `granted` keeps
 * the granted patterns that meet something asked; a request has to match one of `hosts` and one of `granted`. A manifest's
 * `*` asks for whichever hosts are granted, so it is missing only while none is.
 */
export function effectivePermissions(
	manifest: Pick<Manifest, "permissions">,
	grant: Grant | undefined,
): EffectivePermissions {
	const asked = manifest.permissions ?? {};
	const askedHosts = (asked.http?.hosts ?? []).flatMap((host) => parseHostPattern(host) ?? []);
	const grantedHosts = (grant?.http ?? []).flatMap((host) => parseHostPattern(host) ?? []);
	const useful = grantedHosts.filter((pattern) =>
		askedHosts.some((each) => isOpen(each) || intersectsHost(pattern, each)),
	);
	const missingHosts = askedHosts.filter((each) =>
		isOpen(each) ? useful.length === 0 : !useful.some((pattern) => coversHost(pattern, each)),
	);
	const grantedSecrets = new Set(grant?.secrets ?? []);
	const secrets = (asked.secrets ?? []).flatMap((secret) =>
		grantedSecrets.has(secret.name) ? [{ name: secret.name, ...readUse(secret.use) }] : [],
	);
	const missingSecrets = (asked.secrets ?? []).filter((secret) => !grantedSecrets.has(secret.name));
	const hasKv = asked.kv === true && grant?.kv === true;
	const missing = [
		...missingHosts.map((pattern) => `http:${writeHostPattern(pattern)}`),
		...missingSecrets.map((secret) => `secret:${secret.name}`),
		...(asked.kv === true && !hasKv ? ["kv"] : []),
	];
	return {
		...(useful.length === 0
			? {}
			: { http: { hosts: askedHosts.map(writeHostPattern), granted: useful.map(writeHostPattern) } }),
		...(secrets.length === 0 ? {} : { secrets }),
		...(hasKv ? { kv: true as const } : {}),
		missing: [...new Set(missing)],
	};
}

/** The host functions to link, and those to stand a refusing stub for, with the first permission each one lacks. */
export function hostFunctionsOf(permissions: EffectivePermissions): Pick<PluginCode, "hostFunctions" | "ungranted"> {
	const gated = [
		{ name: "http", granted: permissions.http !== undefined, prefix: "http:" },
		{ name: "http_read", granted: permissions.http !== undefined, prefix: "http:" },
		{ name: "secret", granted: permissions.secrets !== undefined, prefix: "secret:" },
		{ name: "kv", granted: permissions.kv === true, prefix: "kv" },
	] as const satisfies readonly { name: HostFunction; granted: boolean; prefix: string }[];
	const ungranted: { [name in HostFunction]?: string } = {};
	for (const { name, granted, prefix } of gated) {
		const word = granted ? undefined : permissions.missing.find((missing) => missing.startsWith(prefix));
		if (word !== undefined) ungranted[name] = word;
	}
	return {
		hostFunctions: [...ungatedHostFunctions, ...gated.filter((each) => each.granted).map((each) => each.name)],
		ungranted,
	};
}

/** `header NAME on HOST`, read. The text has passed the contract's `SecretUse`. */
function readUse(use: string): { readonly header: string; readonly host: string } {
	const match = /^header (\S+) on (\S+)$/.exec(use);
	return { header: (match?.[1] ?? "").toLowerCase(), host: normalHost(match?.[2] ?? "") };
}

function normalHost(host: string): string {
	const pattern = parseHostPattern(host);
	return pattern === undefined ? host : writeHostPattern(pattern);
}
