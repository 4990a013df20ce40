import type { RefusedBundle } from "../contract/index.js";
import { HostError } from "../errors.js";

/**
 * A refusal as an error, for a bundle that somebody named: `bundle.refused` with every problem, whose owner is the
 * author; or `file.unreadable`, the operator's, when there is nothing to read at the path.
 */
export function refusedError({ path, problems }: Pick<RefusedBundle, "path" | "problems">): HostError {
	const [first] = problems;
	if (problems.length === 1 && first?.code === "file.unreadable" && first.file === path) {
		return new HostError("file.unreadable", { file: path, detail: "it is no folder and no archive that can be read" });
	}
	return new HostError("bundle.refused", { path, count: problems.length }, { problems });
}
