import { type Context, exitCodes } from "./context.js";
import { withRuntime } from "./with-runtime.js";

/** `why TOOL`: who has the name, and who lost it by which rule; 1 when no tool has it. */
export function run(context: Context, args: readonly string[]): Promise<number> {
	const [name = ""] = args;
	return withRuntime(context, async (runtime) => {
		const answer = runtime.why(name);
		const owner = (each: { readonly origin: string; readonly bundle?: string }) =>
			each.bundle === undefined ? each.origin : `${each.origin} ${each.bundle}`;
		const winner =
			answer.winner === null ? `${answer.name}: no tool has this name` : `${answer.name}: ${owner(answer.winner)}`;
		context.print(
			answer,
			[winner, ...answer.losers.map((loser) => `  lost: ${owner(loser)} (${loser.rule})`)].join("\n"),
		);
		return answer.winner === null ? exitCodes.refused : exitCodes.ok;
	});
}
