import { hostFunctionsOf } from "../broker/index.js";
import type { LoadedPlugin, LoadedSet, PluginCode } from "../contract/index.js";
import { errorReport, reportOf } from "../errors.js";
import type { JobEdges, Pool } from "../pool/index.js";
import { noEdges } from "./job-edges.js";
import { exportsOf, mayEmit, probeSpecOf } from "./probe-spec.js";

/** What workers run, by bundle id. */
export type CodeStore = {
	/** The code of a loaded bundle; a module is compiled once and shared. Must not reject. */
	readonly codeOf: JobEdges["code"];
};

/** How long a module may take to be prepared, in milliseconds. */
const prepareTimeoutMs = 30_000;

export function createCodeStore(set: LoadedSet, pool: Pool): CodeStore {
	const plugins = new Map(set.plugins.map((plugin) => [plugin.bundle.manifest.id, plugin]));
	const prepared = new Map<string, ReturnType<JobEdges["code"]>>();
	return {
		codeOf: (id) => {
			const plugin = plugins.get(id);
			if (plugin === undefined)
				return Promise.resolve({ ok: false, error: errorReport("plugin.unknown", { id, known: [...plugins.keys()] }) });
			const already = prepared.get(id);
			if (already !== undefined) return already;
			const preparing = prepare(plugin, pool);
			prepared.set(id, preparing);
			// a failure may be the pool's: the next call tries again
			void preparing.then((result) => {
				if (!result.ok) prepared.delete(id);
			});
			return preparing;
		},
	};
}

async function prepare(plugin: LoadedPlugin, pool: Pool): ReturnType<JobEdges["code"]> {
	const { bundle, limits, permissions, config } = plugin;
	const { id, version } = bundle.manifest;
	try {
		const spec = probeSpecOf(bundle, limits);
		const result = await bodyOf(spec, pool);
		if (!result.ok) return result;
		const { hostFunctions, ungranted } = hostFunctionsOf(permissions);
		const code: PluginCode = {
			id,
			version,
			digest: bundle.digest,
			body: result.body,
			exports: exportsOf(bundle.manifest),
			hostFunctions: mayEmit(bundle.manifest) ? [...hostFunctions, "emit"] : hostFunctions,
			ungranted,
			missing: permissions.missing,
			limits,
			config,
		};
		return { ok: true, code };
	} catch (error) {
		return { ok: false, error: reportOf(error) };
	}
}

function bodyOf(spec: ReturnType<typeof probeSpecOf>, pool: Pool) {
	if (spec.body.runtime === "esm") {
		const { entry, sources } = spec.body;
		return { ok: true as const, body: { profile: "wasm-js" as const, entry, sources } };
	}
	return pool.run({ kind: "prepare", spec }, noEdges, { timeoutMs: prepareTimeoutMs });
}
