import { effectivePermissions, grantCommand } from "../broker/index.js";
import { readBundle, refusedError } from "../bundle/index.js";
import { diffDocuments, diffLines } from "../capability/index.js";
import type { RuntimeDocument } from "../contract/index.js";
import { HostError } from "../errors.js";
import { compileSchema } from "../json-schema.js";
import { firstPartyDigests } from "../runtime/index.js";
import { type Context, exitCodes } from "./context.js";
import { withRuntime } from "./with-runtime.js";

/** `plan BUNDLE`: what installing it would change in the document, names it would lose, grants it needs. Changes nothing. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
	const [source = ""] = args;
	const read = await readBundle(source, { origin: "dropped", compile: compileSchema });
	if (!read.ok) {
		throw refusedError(read.refused);
	}
	const { manifest } = read.bundle;
	const { config } = await context.loadConfig();
	const shipped = config.bundles?.first_party === false ? undefined : (await firstPartyDigests()).get(manifest.id);
	if (shipped !== undefined && shipped !== read.bundle.digest)
		throw new HostError("plugin.first_party_id", { id: manifest.id });
	const before = await withRuntime(context, async (runtime) => ({
		document: runtime.document,
		replaces: runtime.set.plugins.find((each) => each.bundle.manifest.id === manifest.id)?.bundle.manifest.version,
	}));
	return withRuntime(
		context,
		async ({ document, registry, set }) => {
			const refused = set.refused.filter((each) => each.id === manifest.id);
			const loses = registry.drops.filter((drop) => drop.bundle === manifest.id);
			const granted = set.plugins.find((each) => each.bundle.manifest.id === manifest.id)?.permissions;
			const needs = (granted ?? effectivePermissions(manifest, undefined)).missing.map((permission) =>
				grantCommand(manifest.id, permission),
			);
			const changes = diffDocuments(before.document, document as RuntimeDocument);
			const plan = {
				id: manifest.id,
				version: manifest.version,
				...(before.replaces === undefined ? {} : { replaces: before.replaces }),
				loads: refused.length === 0,
				problems: refused.flatMap((each) => each.problems),
				changes,
				loses,
				grants: needs,
			};
			const section = (title: string, lines: readonly string[]) =>
				lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
			const text = [
				`${manifest.id} ${manifest.version}${before.replaces === undefined ? "" : ` replaces ${before.replaces}`}`,
				...section(
					"would be refused:",
					plan.problems.map((problem) => `${problem.message} [${problem.code}]`),
				),
				...section("changes in the document:", diffLines(changes)),
				...section(
					"names it would lose:",
					loses.map((drop) => `${drop.name} (${drop.rule})`),
				),
				...section("grants it needs:", needs),
			];
			context.print(plan, text.join("\n"));
			return plan.loads ? exitCodes.ok : exitCodes.refused;
		},
		{ bundle: source },
	);
}
