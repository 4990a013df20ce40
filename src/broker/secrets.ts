import { statSync } from "node:fs";
import { parseEnv } from "node:util";
import { SecretName } from "@mortise/sdk/contract";
import { z } from "zod";
import { HostError } from "../errors.js";
import { checkDocument, readYaml } from "../yaml.js";
import { changePrivateFile, readPrivateFile, writePrivateFile } from "./private-file.js";
import { createRedactor, minSecretLength, type Redactor } from "./redact.js";

/** Where secrets can come from. */
export type SecretSource = "env" | "file" | "store";

export type SecretStoreOptions = {
	/** The sources in order: the first that has a name wins. All three unless given. */
	readonly from?: readonly SecretSource[] | undefined;
	/** The environment; a secret has its plain name there, and an empty value counts as none. */
	readonly env: Readonly<Record<string, string | undefined>>;
	/** A file in dotenv format; must not be readable by other users. */
	readonly file?: string | undefined;
	/** `secrets.json` of the home folder: plain text with mode 0600, not encrypted. */
	readonly storePath: string;
};

/**
 * The operator's secrets, on the main thread only. A changed file is read again, so what `mortise secret set` stored in
 * another process counts at once. Methods throw HostError `private_file.exposed`, `private_file.unreadable` or
 * `secrets.invalid` for a file that cannot be trusted; no error holds a value.
 */
export type SecretStore = {
	readonly has: (name: string) => boolean;
	/** The value, for egress alone; it never goes to a plugin, a log or an error. */
	readonly value: (name: string) => string | undefined;
	/** Which source has a name. */
	readonly sourceOf: (name: string) => SecretSource | undefined;
	/** Names in the file and the store, sorted. The environment is not listed: most of it is no secret. */
	readonly names: () => readonly string[];
	/** Stores a value in `secrets.json`. @throws HostError `secret.name_invalid`, `secret.value_refused` */
	readonly set: (name: string, value: string) => void;
	/** Removes a name from `secrets.json`; false when it is not there. */
	readonly remove: (name: string) => boolean;
	/** Finds every value of the file and the store, and every other one asked for since the start. */
	readonly redactor: () => Redactor;
};

const Stored = z.strictObject({ version: z.literal(1), secrets: z.record(SecretName, z.string()) });

/** Opens the secrets. @throws HostError as {@link SecretStore} says, when a file cannot be trusted */
export function createSecretStore(options: SecretStoreOptions): SecretStore {
	const from = options.from ?? ["env", "file", "store"];
	const seen = new Set<string>();
	let redactor: Redactor | undefined;
	const remember = (value: string): void => {
		if (seen.has(value)) return;
		seen.add(value);
		redactor = undefined;
	};
	const reader = (path: string, parse: (text: string, path: string) => ReadonlyMap<string, string>) => {
		let stamp: string | undefined;
		let values: ReadonlyMap<string, string> = new Map();
		return (): ReadonlyMap<string, string> => {
			const now = stampOf(path);
			if (now === stamp) return values;
			const text = readPrivateFile(path, "owner-reads");
			values = text === undefined ? new Map() : parse(text, path);
			stamp = now;
			for (const value of values.values()) remember(value);
			return values;
		};
	};
	const empty = (): ReadonlyMap<string, string> => new Map();
	const file = options.file !== undefined && from.includes("file") ? reader(options.file, parseDotenv) : empty;
	const stored = reader(options.storePath, parseStored);
	const inUse = from.includes("store") ? stored : empty;
	const find = (name: string): { source: SecretSource; value: string } | undefined => {
		for (const source of from) {
			const value =
				source === "env"
					? Object.hasOwn(options.env, name)
						? options.env[name]
						: undefined
					: (source === "file" ? file() : inUse()).get(name);
			if (value === undefined || value === "") continue;
			remember(value);
			return { source, value };
		}
		return undefined;
	};
	const write = (values: ReadonlyMap<string, string>): void => {
		const secrets = Object.fromEntries([...values].sort(([left], [right]) => (left < right ? -1 : 1)));
		writePrivateFile(options.storePath, `${JSON.stringify({ version: 1, secrets }, null, "\t")}\n`);
	};
	file();
	inUse();
	return {
		has: (name) => find(name) !== undefined,
		value: (name) => find(name)?.value,
		sourceOf: (name) => find(name)?.source,
		names: () => [...new Set([...file().keys(), ...inUse().keys()])].sort(),
		set: (name, value) => {
			// the reader of the file refuses this one key
			if (!SecretName.safeParse(name).success || name === "__proto__")
				throw new HostError("secret.name_invalid", { name });
			const fault = faultOf(value);
			if (fault !== undefined) throw new HostError("secret.value_refused", { name, detail: fault });
			changePrivateFile(options.storePath, () => write(new Map(stored()).set(name, value)));
			remember(value);
		},
		remove: (name) =>
			changePrivateFile(options.storePath, () => {
				const values = new Map(stored());
				const found = values.delete(name);
				if (found) write(values);
				return found;
			}),
		redactor: () => {
			redactor ??= createRedactor(seen);
			return redactor;
		},
	};
}

/** Why a value cannot be sent in a header and kept out of what plugins read; undefined when it can. Never holds the value. */
export function faultOf(value: string): string | undefined {
	if (value.length < minSecretLength) return `it is shorter than ${minSecretLength} characters`;
	if (!/^[\x21-\x7e\x80-\xff]([\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/.test(value))
		return "it holds characters that an HTTP header cannot";
	return undefined;
}

function parseDotenv(text: string): ReadonlyMap<string, string> {
	const entries = Object.entries(parseEnv(text));
	return new Map(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
}

function parseStored(text: string, path: string): ReadonlyMap<string, string> {
	const { document, problems } = readYaml(text, path);
	const checked = document === undefined ? undefined : checkDocument(document, Stored, "schema.invalid");
	const all = [...problems, ...(checked === undefined || checked.ok ? [] : checked.problems)];
	if (checked?.ok === true && all.length === 0) return new Map(Object.entries(checked.value.secrets));
	// a parser's own words and pointers may quote the file, and so a value; line and column are enough
	const safe = all.map((problem) => ({ ...problem, pointer: "", message: "this is not as secrets.json is written" }));
	throw new HostError("secrets.invalid", { file: path, count: all.length }, { problems: safe });
}

function stampOf(path: string): string | undefined {
	const status = statSync(path, { throwIfNoEntry: false, bigint: true });
	return status === undefined ? "absent" : `${status.ino}:${status.size}:${status.mtimeNs}:${status.mode}`;
}
