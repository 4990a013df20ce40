import { RuntimeDocument } from "../contract/index.js";
import { escapeText } from "../errors.js";
import { checkValue, faultText } from "../schema-check.js";
import { acceptsVersion, readVersion } from "./version.js";

/** The four rules of C5, and `schema` for a document that is no valid capability document. */
export type MatchRule =
	| "schema"
	| "protocol_version"
	| "agent_capabilities"
	| "isolation_profile"
	| "state_publication";
/** One failing rule. The message is one line, with every value concerned named and escaped. */
export type MatchFailure = { readonly rule: MatchRule; readonly message: string };
export type Match = { readonly match: boolean; readonly failures: readonly MatchFailure[] };

/**
 * Whether a runtime can run an agent (rules C5 to C7). Pure; never throws. Every failing rule is reported, once each,
 * in the order of C5. The document is checked against its schema: an invalid one gives one `schema` failure that
 * names every fault, and the rules are not tried. The manifest is read leniently: what cannot be read fails the rule
 * concerned, and nothing else in it is looked at.
 *
 * @example
 * matchDocument(document, { protocol_version: "v0.1.0", agent_capabilities: [], isolation_profile: "wasm",
 *   state_publication: { target: "file" } }) // { match: true, failures: [] }
 */
export function matchDocument(document: unknown, manifest: unknown): Match {
	const read = parseDocument(document);
	if (!read.ok) return failed([{ rule: "schema", message: read.detail }]);
	const fields = isMap(manifest) ? manifest : undefined;
	const what = fields === undefined ? "the manifest is not a mapping" : undefined;
	return failed(
		[
			failure("protocol_version", what ?? versionFault(read.value, own(fields, "protocol_version"))),
			failure("agent_capabilities", what ?? capabilityFault(read.value, own(fields, "agent_capabilities"))),
			failure("isolation_profile", what ?? profileFault(read.value, own(fields, "isolation_profile"))),
			failure("state_publication", what ?? targetFault(read.value, own(fields, "state_publication"))),
		].filter((each) => each !== undefined),
	);
}

/** Every rule of C5 failing for one reason: what an unreadable manifest comes to (rule C7). */
export function unreadableManifest(detail: string): Match {
	const message = `the manifest cannot be read: ${oneLine(detail)}`;
	const rules = ["protocol_version", "agent_capabilities", "isolation_profile", "state_publication"] as const;
	return failed(rules.map((rule) => ({ rule, message })));
}

/** One `schema` failure: what a document that is missing, unreadable or invalid comes to (rule C7). */
export function invalidDocument(detail: string): Match {
	return failed([{ rule: "schema", message: oneLine(detail) }]);
}

function failed(failures: readonly MatchFailure[]): Match {
	return { match: failures.length === 0, failures };
}

function failure(rule: MatchRule, message: string | undefined): MatchFailure | undefined {
	return message === undefined ? undefined : { rule, message };
}

function parseDocument(document: unknown): { ok: true; value: RuntimeDocument } | { ok: false; detail: string } {
	// zod leaves this key out of what it checks, a JSON Schema validator does not
	if (isMap(document) && Object.hasOwn(document, "__proto__")) return { ok: false, detail: "unknown key __proto__" };
	const checked = checkValue(RuntimeDocument, document);
	return checked.ok ? checked : { ok: false, detail: oneLine(faultText(checked.faults)) };
}

function versionFault(document: RuntimeDocument, value: unknown): string | undefined {
	if (value === undefined) return "the manifest has no protocol_version";
	if (typeof value !== "string") return `${show(value)} is not a version; write it in quotes, such as "v0.1.0"`;
	const wanted = readVersion(value);
	if (wanted === undefined) return `${show(value)} is not a version such as v0.1.0`;
	const accepted = document.protocol_versions.some((offered) => {
		const version = readVersion(offered);
		return version !== undefined && acceptsVersion(version, wanted);
	});
	return accepted ? undefined : `${show(value)} is not accepted by ${list(document.protocol_versions)}`;
}

function capabilityFault(document: RuntimeDocument, value: unknown): string | undefined {
	if (value === undefined) return "the manifest has no agent_capabilities";
	if (!Array.isArray(value)) return `${show(value)} is not a list`;
	const wanted: readonly unknown[] = value;
	const offered = new Set<unknown>(document.agent_capabilities);
	const missing = [...new Set(wanted.filter((each) => !offered.has(each)).map(show))];
	if (missing.length === 0) return undefined;
	return `${missing.join(", ")} not in ${list(document.agent_capabilities)}`;
}

function profileFault(document: RuntimeDocument, value: unknown): string | undefined {
	if (value === undefined) return "the manifest has no isolation_profile";
	if (typeof value === "string" && document.isolation_profiles.includes(value)) return undefined;
	return `${show(value)} not in ${list(document.isolation_profiles)}`;
}

function targetFault(document: RuntimeDocument, value: unknown): string | undefined {
	if (value === undefined) return "the manifest has no state_publication";
	if (!isMap(value)) return `${show(value)} is not a mapping with a target`;
	const target = own(value, "target");
	if (target === undefined) return "the manifest has no state_publication.target";
	if (typeof target === "string" && document.state_publication_targets.includes(target)) return undefined;
	return `${show(target)} not in ${list(document.state_publication_targets)}`;
}

function isMap(value: unknown): value is { readonly [key: string]: unknown } {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function own(map: { readonly [key: string]: unknown } | undefined, key: string): unknown {
	return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

function list(values: readonly string[]): string {
	return `[${values.map(show).join(", ")}]`;
}

const maxShown = 200;

/** A value as one line of JSON, escaped and cut. Total: what JSON cannot hold is named by its type. */
function show(value: unknown): string {
	let text: string | undefined;
	try {
		text = JSON.stringify(value);
	} catch {
		// a cycle or a bigint: data from a file holds neither
	}
	return oneLine(text ?? typeof value, maxShown);
}

function oneLine(text: string, limit = 4000): string {
	const whole = Array.from(escapeText(text));
	return whole.length <= limit ? whole.join("") : `${whole.slice(0, limit).join("")}…`;
}
