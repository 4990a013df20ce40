import { join } from "node:path";
import { BundleId, type IsolationProfile } from "@mortise/sdk/contract";
import { z } from "zod";
import { type BundleOrigin, type Config, compareIsolation, type Grant } from "../contract/index.js";
import { HostError, isHostError } from "../errors.js";
import { checkDocument, readYaml } from "../yaml.js";
import { firstPartyGrant } from "./first-party-grants.js";
import { type GrantWord, parseGrantWord } from "./grant-word.js";
import { coversHost, parseHostPattern } from "./host-pattern.js";
import { changePrivateFile, readPrivateFile, writePrivateFile } from "./private-file.js";

export type GrantStoreOptions = {
	/** The home folder; the file is `grants.json` in it. */
	readonly home: string;
	/** `grants` of the configuration. */
	readonly config?: Config["grants"] | undefined;
	/** Bundle id → digest it shipped with, generated at build. */
	readonly firstPartyDigests?: { readonly [id: string]: string };
};

/** A bundle as far as grants look at it. */
export type GrantedBundle = { readonly id: string; readonly origin: BundleOrigin; readonly digest: string };

/** What a revoke came to. `stillGranted`: wider permissions that go on allowing it; each needs its own revoke. */
export type RevokeResult = { readonly word: string; readonly stillGranted: readonly string[] };

/**
 * The operator's grants: the configuration, the shipped defaults of first-party bundles, and `grants.json`. Each call
 * reads the file, so that what another process granted counts at once. Every method throws HostError `grants.invalid`
 * (with places), `private_file.exposed` or `private_file.unreadable` for a file it cannot trust, and never writes over one.
 */
export type GrantStore = {
	/** Everything granted to a bundle; undefined when nothing is. */
	readonly grantOf: (bundle: GrantedBundle) => Grant | undefined;
	/**
	 * Adds a permission and lifts an earlier revoke of it. Gives its normal spelling. With a bundle it is given to this
	 * content: what was granted to other content of the id before is taken out. @throws `grant.word_invalid`
	 */
	readonly grant: (id: string, word: string, bundle?: GrantedBundle) => string;
	/** Passes on what was granted to a bundle's former content, when its operator has put new content in its place. */
	readonly passOn: (bundle: GrantedBundle) => void;
	/** Takes out everything the file says of an id. */
	readonly forget: (id: string) => void;
	/** Takes a permission back, also one that the configuration or a shipped default gives. @throws `grant.word_invalid` */
	readonly revoke: (id: string, word: string) => RevokeResult;
	/** The ids `grants.json` says something about, sorted. */
	readonly ids: () => readonly string[];
};

const Word = z.string().refine(isWord, "a permission: http:HOST[:PORT], secret:NAME, kv or isolation:PROFILE");
const StoredGrants = z.strictObject({
	version: z.literal(1),
	bundles: z.record(
		BundleId,
		z.strictObject({
			granted: z.array(Word),
			revoked: z.array(Word),
			/** What `granted` was given to: the content with this digest, or what ships with Mortise. Absent: given in advance. */
			to: z.union([z.literal("first-party"), z.string().regex(/^sha256:[0-9a-f]{64}$/)]).optional(),
		}),
	),
});
type StoredGrants = z.infer<typeof StoredGrants>;

/** Opens the grants of a home folder. Nothing is read yet. */
export function createGrantStore(options: GrantStoreOptions): GrantStore {
	const file = join(options.home, "grants.json");
	const read = (): StoredGrants => readStored(file);
	const write = (stored: StoredGrants, id: string, entry: StoredGrants["bundles"][string]): void => {
		const bundles = Object.entries({ ...stored.bundles, [id]: entry })
			.filter(([, each]) => each.granted.length + each.revoked.length > 0)
			.sort(([left], [right]) => (left < right ? -1 : 1));
		writePrivateFile(file, `${JSON.stringify({ version: 1, bundles: Object.fromEntries(bundles) }, null, "\t")}\n`);
	};
	const changed = <T>(change: () => T): T => changePrivateFile(file, change);
	const base = (bundle: GrantedBundle): readonly string[] => [
		...wordsOf(configGrant(options, bundle.id)),
		...wordsOf(firstPartyGrant(bundle, options.firstPartyDigests ?? {})),
	];
	return {
		grantOf: (bundle) => {
			const entry = entryOf(read(), bundle.id);
			const revoked = new Set(entry.revoked);
			const words = [...base(bundle), ...(isFor(entry, bundle) ? entry.granted : [])].filter(
				(word) => word.startsWith("isolation:") || !revoked.has(word),
			);
			const config = configGrant(options, bundle.id);
			if (words.length === 0 && config === undefined) return undefined;
			return {
				...grantFrom(words),
				...(config?.limits === undefined ? {} : { limits: config.limits }),
				...(config?.config === undefined ? {} : { config: config.config }),
			};
		},
		grant: (id, text, bundle) =>
			changed(() => {
				const word = parseGrantWord(text);
				const stored = read();
				const entry = entryOf(stored, checkId(id));
				const before = bundle === undefined || isFor(entry, bundle) ? entry.granted : [];
				const kept = before.filter((each) => word.kind !== "isolation" || !each.startsWith("isolation:"));
				const to = bundle === undefined ? entry.to : contentOf(bundle);
				write(stored, id, {
					granted: [...new Set([...kept, word.text])].sort(),
					revoked: entry.revoked.filter((each) => each !== word.text),
					...(to === undefined ? {} : { to }),
				});
				return word.text;
			}),
		passOn: (bundle) =>
			changed(() => {
				const stored = read();
				const entry = entryOf(stored, bundle.id);
				if (entry.granted.length > 0) write(stored, bundle.id, { ...entry, to: contentOf(bundle) });
			}),
		forget: (id) =>
			changed(() => {
				const stored = read();
				if (Object.hasOwn(stored.bundles, id)) write(stored, id, { granted: [], revoked: [] });
			}),
		revoke: (id, text) =>
			changed(() => {
				const word = parseGrantWord(text);
				const stored = read();
				const entry = entryOf(stored, checkId(id));
				const granted = entry.granted.filter((each) => each !== word.text);
				// an isolation floor is taken back only where it was set: revoking must never weaken what the configuration says
				const revoked = word.kind === "isolation" ? entry.revoked : [...new Set([...entry.revoked, word.text])].sort();
				write(stored, id, { ...entry, granted, revoked });
				const digest = options.firstPartyDigests?.[id] ?? "";
				const left = [...base({ id, origin: "first-party", digest }), ...granted].filter(
					(each) => !revoked.includes(each),
				);
				return { word: word.text, stillGranted: [...new Set(left.filter((each) => covers(each, word)))] };
			}),
		ids: () => Object.keys(read().bundles).sort(),
	};
}

function readStored(file: string): StoredGrants {
	const text = readPrivateFile(file, "owner-writes");
	if (text === undefined) return { version: 1, bundles: {} };
	const { document, problems } = readYaml(text, file);
	const checked = document === undefined ? undefined : checkDocument(document, StoredGrants, "schema.invalid");
	const all = [...problems, ...(checked === undefined || checked.ok ? [] : checked.problems)];
	if (checked?.ok !== true || all.length > 0)
		throw new HostError("grants.invalid", { file, count: all.length }, { problems: all });
	return checked.value;
}

function configGrant(options: GrantStoreOptions, id: string): Grant | undefined {
	return options.config !== undefined && Object.hasOwn(options.config, id) ? options.config[id] : undefined;
}

function entryOf(stored: StoredGrants, id: string): StoredGrants["bundles"][string] {
	return (Object.hasOwn(stored.bundles, id) ? stored.bundles[id] : undefined) ?? { granted: [], revoked: [] };
}

/** Whether what an entry grants was given to this very content. */
function isFor({ to }: StoredGrants["bundles"][string], bundle: GrantedBundle): boolean {
	return to === undefined || to === contentOf(bundle);
}

/** What ships with Mortise stays itself when it is updated; other content is its digest. */
function contentOf({ origin, digest }: GrantedBundle): string {
	return origin === "first-party" ? "first-party" : digest;
}

function wordsOf(grant: Grant | undefined): readonly string[] {
	const words = [
		...(grant?.http ?? []).map((host) => `http:${host}`),
		...(grant?.secrets ?? []).map((name) => `secret:${name}`),
		...(grant?.kv === true ? ["kv"] : []),
		...(grant?.isolation === undefined ? [] : [`isolation:${grant.isolation}`]),
	];
	// a pattern that cannot be read matches nothing, so leaving it out grants no less
	return words.filter(isWord).map((word) => parseGrantWord(word).text);
}

function grantFrom(texts: readonly string[]): Grant {
	const words = [...new Set(texts)].map((text) => parseGrantWord(text));
	const http = words.flatMap((word) => (word.kind === "http" ? [word.text.slice("http:".length)] : []));
	const secrets = words.flatMap((word) => (word.kind === "secret" ? [word.name] : []));
	const profiles = words.flatMap((word) => (word.kind === "isolation" ? [word.profile] : []));
	const isolation = profiles.reduce<IsolationProfile | undefined>(
		(best, profile) => (best === undefined || compareIsolation(profile, best) > 0 ? profile : best),
		undefined,
	);
	return {
		...(http.length === 0 ? {} : { http }),
		...(secrets.length === 0 ? {} : { secrets }),
		...(words.some((word) => word.kind === "kv") ? { kv: true } : {}),
		...(isolation === undefined ? {} : { isolation }),
	};
}

function covers(text: string, word: GrantWord): boolean {
	if (text === word.text) return true;
	if (word.kind !== "http" || !text.startsWith("http:")) return false;
	const wide = parseHostPattern(text.slice("http:".length));
	return wide !== undefined && coversHost(wide, word.pattern);
}

function checkId(id: string): string {
	if (!BundleId.safeParse(id).success) throw new HostError("grant.bundle_invalid", { id });
	return id;
}

function isWord(word: string): boolean {
	try {
		parseGrantWord(word);
		return true;
	} catch (error) {
		if (isHostError(error)) return false;
		throw error;
	}
}
