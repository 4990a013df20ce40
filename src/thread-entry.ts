/**
 * The URL of a module that a thread starts with. Threads always run the built code: where this file itself runs from
 * source (under the test runner), the built counterpart is taken.
 *
 * @param module path below `src/` without an ending, such as `pool/worker`
 */
export function threadEntry(module: string): URL {
	const here = new URL(".", import.meta.url);
	const built = here.pathname.endsWith("/src/") ? new URL("../dist/", here) : here;
	return new URL(`${module}.js`, built);
}
