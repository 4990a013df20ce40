import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const root = new URL("../../", import.meta.url);

/** Folders and files of the distribution itself. */
export const resources = {
	/** The folder of first-party bundles. */
	plugins: fileURLToPath(new URL("plugins/", root)),
	/** The capability document of the embedded set, made at build (rule C4). */
	embeddedDocument: fileURLToPath(new URL("dist/living-repos-runtime.json", root)),
};

/** The digests of the first-party bundles as they were built: id → digest. Empty when nothing was built. */
export async function firstPartyDigests(): Promise<ReadonlyMap<string, string>> {
	try {
		const text = await readFile(new URL("dist/first-party.json", root), "utf8");
		return new Map(Object.entries(JSON.parse(text) as Record<string, string>));
	} catch {
		return new Map();
	}
}

/** The version of this distribution. */
export async function hostVersion(): Promise<string> {
	const text = await readFile(new URL("package.json", root), "utf8");
	return (JSON.parse(text) as { version: string }).version;
}
