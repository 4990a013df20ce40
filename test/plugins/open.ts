import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Host, HostFunction, HostResult, JsonObject, Manifest as ManifestType } from "@mortise/sdk/contract";
import { Manifest } from "@mortise/sdk/contract";
import type { CallOptions, CallResult, Opened } from "@mortise/sdk/testing";
import { effectiveLimits } from "../../src/broker/index.js";
import type { CallOutcome, HostPort } from "../../src/contract/index.js";
import { openPlugin, prepareBody } from "../../src/engine/index.js";
import { mayEmit } from "../../src/runtime/probe-spec.js";
import { readYaml } from "../../src/yaml.js";

const plugins = fileURLToPath(new URL("../../plugins/", import.meta.url));

/** The ids of the first-party bundles. */
export function bundleIds(): readonly string[] {
	return readdirSync(plugins, { withFileTypes: true })
		.filter((entry) => entry.isDirectory())
		.map(({ name }) => name)
		.sort();
}

/** The text of a bundle's file. */
export function bundleFile(id: string, path: string): Buffer {
	return readFileSync(`${plugins}${id}/${path}`);
}

/** A bundle's manifest, read by the host's own reader. */
export function manifestOf(id: string): ManifestType {
	const { document, problems } = readYaml(bundleFile(id, "plugin.yaml"), `${id}/plugin.yaml`);
	if (document === undefined) throw new Error(JSON.stringify(problems));
	return Manifest.parse(document.value);
}

/** A bundle as it was built, opened in the host's engine within its own limits, on a host in memory. */
export async function openBundle(
	id: string,
	host: Host,
	config: JsonObject = {},
): Promise<Opened & { readonly outcome: (op: string, input: unknown, options?: CallOptions) => Promise<CallOutcome> }> {
	const manifest = manifestOf(id);
	// a machine busy with other tests takes longer than the bundle would
	const limits = { ...effectiveLimits(manifest.limits, undefined, undefined), cpuMs: 5000 };
	const given = (Object.keys(host) as HostFunction[]).filter((name) => host[name] !== undefined);
	const hostFunctions: readonly HostFunction[] = mayEmit(manifest) ? [...given, "emit"] : given;
	const bytes = bundleFile(id, manifest.entry);
	const prepared = await prepareBody({
		id,
		version: manifest.version,
		digest: "sha256:test",
		body:
			manifest.runtime === "wasm"
				? { runtime: "wasm", bytes }
				: { runtime: "esm", entry: manifest.entry, sources: { [manifest.entry]: bytes.toString() } },
		exports: {},
		door: true,
		asked: hostFunctions,
		limits,
	});
	if (!prepared.ok) throw new Error(JSON.stringify(prepared.error));
	const plugin = openPlugin(
		{
			id,
			version: manifest.version,
			digest: "sha256:test",
			body: prepared.body,
			exports: {},
			hostFunctions,
			ungranted: {},
			limits,
			config,
		},
		portOf(host),
	);
	let calls = 0;
	const outcome = (op: string, input: unknown, { agent, onEmit }: CallOptions = {}) =>
		plugin.call({
			op,
			input,
			call: `call-${++calls}`,
			timeoutMs: limits.timeoutMs,
			config,
			...(agent === undefined ? {} : { agent }),
			...(onEmit === undefined ? {} : { onEmit }),
		});
	return { outcome, call: async (op, input, options) => resultOf(await outcome(op, input, options)) };
}

function resultOf(outcome: CallOutcome): CallResult {
	if (outcome.ok) return { ok: true, output: outcome.output };
	if (outcome.failure !== undefined) return { ok: false, failure: outcome.failure };
	// the host refuses what is in no contract before any plugin sees it
	const code = outcome.error.code === "engine.unknown_operation" ? "unknown_op" : "internal";
	return { ok: false, failure: { code, message: JSON.stringify(outcome.error) } };
}

function portOf(host: Host): HostPort {
	return {
		async call(name, args): Promise<HostResult> {
			const call = host[name] as ((given: unknown) => Promise<unknown>) | undefined;
			if (call === undefined) return { ok: false, failure: { code: "unsupported", message: `${name} is not there` } };
			try {
				return { ok: true, value: await call(args) };
			} catch (error) {
				const { code, message, retryable, retryAfterMs } = error as {
					code?: "internal";
					message: string;
					retryable?: boolean;
					retryAfterMs?: number;
				};
				return {
					ok: false,
					failure: {
						code: code ?? "internal",
						message,
						...(retryable === undefined ? {} : { retryable }),
						...(retryAfterMs === undefined ? {} : { retryAfterMs }),
					},
				};
			}
		},
		callBlocking: () => ({ ok: false, failure: { code: "unsupported", message: "nothing waits here" } }),
	};
}
