import type { EffectivePermissions, LoadedPlugin } from "../contract/index.js";
import { decideHost, maySendSecret } from "./host-decision.js";
import { asksForHost, parseHostPattern, type Target } from "./host-pattern.js";
import { type Placeholders, placeholderPattern } from "./placeholders.js";
import { createRedactor } from "./redact.js";
import { Refusal } from "./refusal.js";
import { faultOf, type SecretStore } from "./secrets.js";

export type Header = readonly [name: string, value: string];

/** Who sends, and what may be put in for it. */
export type Sender = { readonly plugin: LoadedPlugin; readonly job: string };

/**
 * Refuses a placeholder in the URL, the body or a header's name: it becomes a value in a declared header and nowhere
 * else. The sender's own placeholders are found in encoded forms too, others by their shape.
 *
 * @throws Refusal `unauthorized`
 */
export function refuseStrayPlaceholders(request: {
	readonly sender: Sender;
	readonly url: URL;
	readonly headers: readonly Header[];
	readonly body: Uint8Array | undefined;
	readonly placeholders: Placeholders;
}): void {
	const { sender, url, headers, body, placeholders } = request;
	const own = createRedactor(placeholders.heldBy(sender.job, sender.plugin.bundle.manifest.id));
	const has = (text: string): boolean => text.search(placeholderPattern) >= 0 || own.finds(text);
	const isIn = (part: string): Refusal =>
		new Refusal("unauthorized", `a secret's placeholder stands in the ${part}; it is sent in its declared header only`);
	if (has(url.href) || has(decodeLoosely(url.href))) throw isIn("URL");
	if (headers.some(([name]) => has(name))) throw isIn("name of a header");
	if (body !== undefined && (has(Buffer.from(body).toString("latin1")) || own.finds(body))) throw isIn("body");
	for (const [name, value] of headers)
		if (own.finds(value.replace(placeholderPattern, ""))) throw isIn(`header ${name} in an encoded form`);
}

/**
 * Puts the values in for the placeholders of one hop. Each has to be the sender's own of this job, in the header and on
 * the host its manifest declares, and the host granted; for a use on `*`, granted by more than a bare `*`.
 *
 * @throws Refusal `unauthorized`, `not_found` when the secret is gone, `unavailable` when its value cannot be sent
 */
export function placeSecrets(request: {
	readonly sender: Sender;
	readonly target: Target;
	readonly headers: readonly Header[];
	readonly placeholders: Placeholders;
	readonly secrets: SecretStore;
}): readonly Header[] {
	const { sender, target, headers, placeholders, secrets } = request;
	const { bundle, permissions } = sender.plugin;
	return headers.map(([header, value]) => {
		const placed = value.replace(placeholderPattern, (placeholder) => {
			const owner = placeholders.ownerOf(placeholder);
			if (owner?.job !== sender.job || owner.bundle !== bundle.manifest.id)
				throw new Refusal("unauthorized", `the placeholder in the header ${header} is not one of this plugin and call`);
			if (!isDeclared({ permissions, name: owner.name, header, target }))
				throw new Refusal(
					"unauthorized",
					`the secret ${owner.name} is not for the header ${header} on ${target.host}; its use is declared in plugin.yaml`,
				);
			if (!maySendSecret(target))
				throw new Refusal("unauthorized", `the secret ${owner.name} is not sent to ${target.host} in clear; use https`);
			const secret = secrets.value(owner.name);
			if (secret === undefined)
				throw new Refusal("not_found", `the secret ${owner.name} is not set; run: mortise secret set ${owner.name}`);
			const fault = faultOf(secret);
			if (fault !== undefined)
				throw new Refusal("unavailable", `the secret ${owner.name} cannot be sent: ${fault}`, { retryable: false });
			return secret;
		});
		return [header, placed] as const;
	});
}

/** Whether a header's value stands for a secret. */
export function carriesSecret(header: Header): boolean {
	return header[1].search(placeholderPattern) >= 0;
}

function isDeclared(request: {
	readonly permissions: EffectivePermissions;
	readonly name: string;
	readonly header: string;
	readonly target: Target;
}): boolean {
	const { permissions, name, header, target } = request;
	const decision = decideHost(permissions.http, target);
	if (!decision.ok) return false;
	return (permissions.secrets ?? []).some((use) => {
		const pattern = parseHostPattern(use.host);
		if (use.name !== name || use.header.toLowerCase() !== header.toLowerCase() || pattern === undefined) return false;
		return asksForHost(pattern, target) && (pattern.kind !== "any" || decision.named);
	});
}

function decodeLoosely(text: string): string {
	return text.replace(/%([0-9a-f]{2})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
