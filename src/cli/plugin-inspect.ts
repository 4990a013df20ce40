import { grantCommand } from "../broker/index.js";
import { HostError } from "../errors.js";
import { writeYaml } from "../yaml.js";
import { type Context, exitCodes } from "./context.js";
import { withRuntime } from "./with-runtime.js";

/** `plugin inspect ID`: what a bundle provides, what it may do, what it still lacks, and the names it lost. */
export function run(context: Context, args: readonly string[]): Promise<number> {
	const [id = ""] = args;
	return withRuntime(context, async ({ set, registry }) => {
		const refused = set.refused.filter((each) => each.id === id);
		const plugin = set.plugins.find((each) => each.bundle.manifest.id === id);
		if (plugin === undefined) {
			if (refused.length === 0) {
				const known = [
					...set.plugins.map((each) => each.bundle.manifest.id),
					...set.refused.flatMap((each) => each.id ?? []),
				];
				throw new HostError("plugin.unknown", { id, known });
			}
			context.print(refused, writeYaml(refused));
			return exitCodes.refused;
		}
		const { bundle, permissions, limits, isolation } = plugin;
		const { missing, ...granted } = permissions;
		const shown = {
			id,
			version: bundle.manifest.version,
			description: bundle.manifest.description,
			origin: bundle.origin,
			digest: bundle.digest,
			runtime: bundle.manifest.runtime,
			isolation,
			provides: bundle.manifest.provides,
			limits,
			permissions: granted,
			missing: missing.map((permission) => ({ permission, next: grantCommand(id, permission) })),
			dropped: registry.drops.filter((drop) => drop.bundle === id),
			files: [...bundle.files].map(([path, bytes]) => ({ path, bytes: bytes.byteLength })),
		};
		context.print(shown, writeYaml(shown));
		return exitCodes.ok;
	});
}
