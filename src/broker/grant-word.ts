import { IsolationProfile, SecretName } from "@mortise/sdk/contract";
import { HostError } from "../errors.js";
import { type HostPattern, parseHostPattern, writeHostPattern } from "./host-pattern.js";

/** A permission as `mortise grant` and `mortise revoke` take it. `text` is the normal spelling. */
export type GrantWord = { readonly text: string } & (
	| { readonly kind: "http"; readonly pattern: HostPattern }
	| { readonly kind: "secret"; readonly name: string }
	| { readonly kind: "kv" }
	| { readonly kind: "isolation"; readonly profile: IsolationProfile }
);

/**
 * Reads `http:HOST[:PORT]`, `secret:NAME`, `kv` or `isolation:PROFILE`.
 *
 * @throws HostError `grant.word_invalid`
 */
export function parseGrantWord(word: string): GrantWord {
	const refuse = (detail: string): HostError => new HostError("grant.word_invalid", { word, detail });
	if (word === "kv") return { kind: "kv", text: "kv" };
	const colon = word.indexOf(":");
	const kind = colon < 0 ? word : word.slice(0, colon);
	const rest = colon < 0 ? "" : word.slice(colon + 1);
	switch (kind) {
		case "http": {
			const pattern = parseHostPattern(rest);
			if (pattern === undefined)
				throw refuse("after 'http:' comes a host name, an address, '*.suffix' or '*', then an optional ':PORT'");
			return { kind: "http", pattern, text: `http:${writeHostPattern(pattern)}` };
		}
		case "secret": {
			const name = SecretName.safeParse(rest);
			if (!name.success) throw refuse("after 'secret:' comes the name of a secret");
			return { kind: "secret", name: name.data, text: `secret:${name.data}` };
		}
		case "isolation": {
			const profile = IsolationProfile.safeParse(rest);
			if (!profile.success) throw refuse(`the profiles are ${IsolationProfile.options.join(", ")}`);
			return { kind: "isolation", profile: profile.data, text: `isolation:${profile.data}` };
		}
		default:
			throw refuse("it is one of http:HOST[:PORT], secret:NAME, kv, isolation:PROFILE");
	}
}

/** The command that grants a permission, quoted for a shell where it must be. */
export function grantCommand(id: string, word: string): string {
	const quoted = /^[A-Za-z0-9:._-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
	return `mortise grant ${id} ${quoted}`;
}
