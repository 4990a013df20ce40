// Runs in: worker.
import { driverFile } from "./driver.js";

/** The name of the error an import ends in when it is refused; it reaches the plugin like any other error. */
export const importRefusedName = "ImportRefusedError";

class ImportRefusedError extends Error {
	override readonly name = importRefusedName;
}

/** Begins the name of a module that must not be loaded; what follows says why. */
const refusedPrefix = "refused:";

/**
 * The file of the bundle an import means. Only relative imports between the bundle's own files are allowed: no
 * package names, no `node:` modules, no absolute paths, no URLs, nothing above the bundle. Anything else gets a name that
 * `loadSource` refuses, since the engine drops an error given here.
 *
 * @param from the importing file, relative to the bundle
 */
export function resolveImport(sources: { readonly [path: string]: string }, from: string, specifier: string): string {
	if (from === driverFile) return specifier;
	const refused = (why: string) => `${refusedPrefix}${from} imports ${JSON.stringify(specifier.slice(0, 200))}: ${why}`;
	if (!/^\.\.?\//.test(specifier)) return refused("only relative imports inside the bundle are allowed");
	const parts = from.split("/").slice(0, -1);
	for (const part of specifier.split("/")) {
		if (part === "." || part === "") continue;
		if (part !== "..") parts.push(part);
		else if (parts.pop() === undefined) return refused("it lies outside the bundle");
	}
	const path = parts.join("/");
	return Object.hasOwn(sources, path) ? path : refused("there is no such .js or .mjs file in the bundle");
}

/** The text of a resolved file. */
export function loadSource(sources: { readonly [path: string]: string }, path: string): string | ImportRefusedError {
	const source = Object.hasOwn(sources, path) ? sources[path] : undefined;
	if (source === undefined) {
		const isRefused = path.startsWith(refusedPrefix);
		return new ImportRefusedError(isRefused ? path.slice(refusedPrefix.length) : `there is no ${path} in the bundle`);
	}
	// the engine takes sources as C strings: what follows a NUL would silently be left out
	if (source.includes("\0")) return new ImportRefusedError(`${path} holds a NUL character`);
	return source;
}
