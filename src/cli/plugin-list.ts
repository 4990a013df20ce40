import { kindsOf, type Runtime } from "../runtime/index.js";
import { type Context, describeProblem, exitCodes } from "./context.js";
import { columns } from "./table.js";
import { withRuntime } from "./with-runtime.js";

/** `plugin list` (DESIGN section 11): every bundle that is there and its state, refused ones with all their problems. */
export function run(context: Context): Promise<number> {
	return withRuntime(context, async (runtime) => {
		const rows = listBundles(runtime);
		const text = columns([
			["BUNDLE", "VERSION", "STATE", "RUNTIME", "ISOLATION", "KINDS", "DIGEST"],
			...rows.map((row) => [
				row.id ?? "?",
				row.version ?? "?",
				row.state,
				row.runtime ?? "?",
				row.isolation ?? "-",
				row.kinds.join(",") || "-",
				row.digest?.slice(0, 19) ?? "-",
			]),
		]);
		context.print(rows, text);
		if (context.json) return exitCodes.ok;
		for (const row of rows) for (const problem of row.problems) context.tell(describeProblem(problem));
		for (const note of runtime.set.notes) context.tell(`note: ${describeProblem(note)}`);
		return exitCodes.ok;
	});
}

function listBundles({ set }: Runtime) {
	const loaded = set.plugins.map(({ bundle, isolation, permissions }) => ({
		id: bundle.manifest.id,
		version: bundle.manifest.version,
		kinds: kindsOf(bundle),
		runtime: bundle.manifest.runtime,
		isolation,
		digest: bundle.digest,
		state: "loaded" as const,
		origin: bundle.origin,
		missing: permissions.missing,
		problems: [],
	}));
	const refused = set.refused.map(({ id, version, kinds, runtime, digest, state, path, problems }) => ({
		id: id ?? null,
		version: version ?? null,
		kinds: kinds ?? [],
		runtime: runtime ?? null,
		isolation: null,
		digest: digest ?? null,
		state,
		path,
		problems,
	}));
	return [...loaded, ...refused].sort((a, b) => ((a.id ?? "") < (b.id ?? "") ? -1 : 1));
}
