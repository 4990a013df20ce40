import { createHash } from "node:crypto";
import type { RuntimeDocument } from "../contract/index.js";
import { writeYaml } from "../yaml.js";
import { sortKeys } from "./order.js";

/**
 * The document as bytes, keys sorted at every depth, ending in one newline: the same document gives the same bytes
 * (rule C12). UTF-8.
 */
export function documentBytes(document: RuntimeDocument, format: "json" | "yaml"): Uint8Array {
	const sorted = sortKeys(document);
	const text = format === "json" ? `${JSON.stringify(sorted, null, 2)}\n` : writeYaml(sorted);
	return new TextEncoder().encode(text);
}

/** The strong entity tag of bytes (RFC 9110, section 8.8.3), quotes included: their SHA-256 (rule C12). */
export function etagOf(bytes: Uint8Array): string {
	return `"sha256-${createHash("sha256").update(bytes).digest("hex")}"`;
}
