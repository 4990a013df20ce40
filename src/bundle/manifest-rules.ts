import { HostPattern } from "@mortise/sdk/contract";
import type { Problem } from "../contract/index.js";
import { type ErrorCode, type ErrorFields, problemOf } from "../errors.js";
import { type PlacedDocument, pointerOf } from "../yaml.js";

/** Compiles a JSON Schema; `check` gives one sentence for each thing wrong with a value, none when it fits. Must not throw. */
export type CompileSchema = (
	schema: unknown,
) => { ok: true; check: (value: unknown) => string[] } | { ok: false; detail: string };

/** Names no bundle may claim for a tool (rule R134). */
const reservedToolNames: ReadonlySet<string> = new Set(["shell"]);
const callable = ["tools", "providers", "memory", "channels", "state_targets"] as const;

type Path = readonly (string | number)[];
type Report = (code: ErrorCode, path: Path, fields?: ErrorFields) => void;

/**
 * What a manifest must keep beyond its shape. Works on the raw value, so that it finds its problems however wrong the
 * rest is; a value of the wrong type is left to the schema. In steps, since every schema is compiled.
 */
export function* checkManifestRules(
	document: PlacedDocument,
	compile: CompileSchema | undefined,
): Generator<void, readonly Problem[], void> {
	const problems: Problem[] = [];
	const report: Report = (code, path, fields = {}) => {
		problems.push(problemOf(code, { file: document.file, ...document.at(path), pointer: pointerOf(path) }, fields));
	};
	const manifest = document.value;
	const contract = member(manifest, "contract");
	if (typeof contract === "number" && contract !== 1)
		report("bundle.contract_version", ["contract"], { actual: contract });
	checkEntry(manifest, report);
	checkProvided(manifest, report);
	checkSecrets(manifest, report);

	const config = member(manifest, "config");
	if (isObject(config)) {
		if (config.type !== "object" || config.additionalProperties !== false) report("bundle.config_open", ["config"]);
		else checkSchema(config, ["config"], compile, report);
		yield;
	}
	for (const [index, tool] of list(member(manifest, "provides", "tools")).entries()) {
		checkTool(tool, ["provides", "tools", index], { runtime: member(manifest, "runtime"), compile, report });
		yield;
	}
	return problems;
}

/** The own member of an object at a path of keys; `undefined` where there is none. */
export function member(value: unknown, ...keys: readonly string[]): unknown {
	let here = value;
	for (const key of keys) {
		if (!isObject(here) || !Object.hasOwn(here, key)) return undefined;
		here = here[key];
	}
	return here;
}

function checkEntry(manifest: unknown, report: Report): void {
	const runtime = member(manifest, "runtime");
	const entry = member(manifest, "entry");
	if (typeof entry !== "string" || (runtime !== "wasm" && runtime !== "esm")) return;
	const fits = runtime === "wasm" ? /\.wasm$/ : /\.m?js$/;
	if (!fits.test(entry)) report("bundle.entry_mismatch", ["entry"], { entry, runtime });
}

function checkProvided(manifest: unknown, report: Report): void {
	const provides = member(manifest, "provides");
	if (!isObject(provides)) return;
	const something = callable.some((kind) => member(provides, kind) !== undefined && !isEmpty(member(provides, kind)));
	if (!something) report("bundle.provides_nothing", ["provides"]);
	for (const kind of callable) {
		const seen = new Set<unknown>();
		for (const [index, item] of list(member(provides, kind)).entries()) {
			const name = kind === "state_targets" ? item : member(item, "name");
			if (typeof name !== "string") continue;
			const path = ["provides", kind, index, ...(kind === "state_targets" ? [] : ["name"])];
			if (seen.has(name)) report("bundle.duplicate_name", path, { kind, name });
			seen.add(name);
			if (kind === "tools" && reservedToolNames.has(name)) report("bundle.reserved_name", path, { name });
		}
	}
}

function checkSecrets(manifest: unknown, report: Report): void {
	const hosts = list(member(manifest, "permissions", "http", "hosts")).filter((host) => typeof host === "string");
	for (const [index, secret] of list(member(manifest, "permissions", "secrets")).entries()) {
		const use = member(secret, "use");
		const host = typeof use === "string" ? /^header \S+ on (\S+)$/.exec(use)?.[1] : undefined;
		if (host === undefined) continue;
		const path = ["permissions", "secrets", index, "use"];
		if (!HostPattern.safeParse(host).success) report("schema.invalid", path, { detail: `"${host}" is not a host` });
		else if (!hosts.some((pattern) => covers(pattern, host)))
			report("bundle.secret_host", path, { name: String(member(secret, "name")), host });
	}
}

/** Whether a host pattern takes in another. A pattern without a port takes in every port; `*` as a use follows the grants. */
function covers(pattern: string, host: string): boolean {
	if (host === "*" || pattern === "*" || pattern === host) return true;
	const [wide, narrow] = [splitPort(pattern), splitPort(host)];
	if (wide.port !== undefined && wide.port !== narrow.port) return false;
	if (wide.name === "*" || wide.name === narrow.name) return true;
	return wide.name.startsWith("*.") && narrow.name.endsWith(wide.name.slice(1));
}

function splitPort(pattern: string): { name: string; port?: string } {
	const match = /^(.*[^:\]]|\[[^\]]*\]):(\d+)$/.exec(pattern);
	return match === null ? { name: pattern } : { name: match[1] ?? "", port: match[2] ?? "" };
}

function checkTool(
	tool: unknown,
	path: Path,
	context: { runtime: unknown; compile: CompileSchema | undefined; report: Report },
): void {
	const { runtime, compile, report } = context;
	const name = String(member(tool, "name"));
	const exported = member(tool, "export");
	const input = member(tool, "input");
	if (exported !== undefined && runtime === "esm") report("bundle.export_needs_wasm", [...path, "export"], { name });
	if (input === "text" || input === "json") {
		if (exported === undefined) report("bundle.input_needs_export", [...path, "input"], { name, input });
	} else if (input !== undefined) {
		if (!isObject(input) || input.type !== "object") report("bundle.tool_input", [...path, "input"], { name });
		else checkSchema(input, [...path, "input"], compile, report);
	}
	const output = member(tool, "output");
	if (isObject(output)) checkSchema(output, [...path, "output"], compile, report);
}

function checkSchema(schema: unknown, path: Path, compile: CompileSchema | undefined, report: Report): void {
	const compiled = compile?.(schema);
	if (compiled?.ok === false) report("bundle.schema_invalid", path, { detail: compiled.detail });
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
	return Array.isArray(value) && value.length === 0;
}

function list(value: unknown): readonly unknown[] {
	return Array.isArray(value) ? value : [];
}
