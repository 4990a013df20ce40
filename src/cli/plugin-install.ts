import { resolve } from "node:path";
import { createGrantStore, grantCommand, grantWords } from "../broker/index.js";
import { installBundle } from "../bundle/index.js";
import { compileSchema } from "../json-schema.js";
import { dropFolder, firstPartyDigests, openHome } from "../runtime/index.js";
import { type Context, exitCodes } from "./context.js";

/** `plugin install SOURCE`: verifies a folder or a `.tgz` and puts it into the drop folder; says what it asks for. */
export async function run(
	context: Context,
	args: readonly string[],
	options: Record<string, unknown>,
): Promise<number> {
	const [source = ""] = args;
	const loaded = await context.loadConfig();
	const home = await openHome(loaded.home, dropFolder(loaded));
	const installed = await installBundle({
		source: resolve(source),
		home: home.folder,
		drop: home.bundles,
		force: options.force === true,
		takenIds: loaded.config.bundles?.first_party === false ? new Set() : new Set((await firstPartyDigests()).keys()),
		compile: compileSchema,
	});
	const { manifest, digest } = installed.bundle;
	const store = createGrantStore({ home: home.folder, config: loaded.config.grants });
	if (installed.outcome !== "unchanged") store.passOn({ id: manifest.id, origin: "dropped", digest });
	const grants = grantWords(manifest).map((word) => grantCommand(manifest.id, word));
	const asks =
		grants.length === 0
			? []
			: ["It asks for permissions, and has none until you grant them:", ...grants.map((line) => `  ${line}`)];
	context.print(
		{ id: manifest.id, version: manifest.version, digest, outcome: installed.outcome, grants },
		[`${installed.outcome} ${manifest.id} ${manifest.version} ${digest}`, ...asks].join("\n"),
	);
	return exitCodes.ok;
}
