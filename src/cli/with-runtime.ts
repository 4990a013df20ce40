import { openRuntime, type Runtime, type RuntimeOptions } from "../runtime/index.js";
import type { Context } from "./context.js";

/** Opens the runtime for one verb and closes it whatever happens. */
export async function withRuntime<T>(
	context: Context,
	use: (runtime: Runtime) => Promise<T>,
	options: Pick<RuntimeOptions, "bundle" | "probeAgain"> = {},
): Promise<T> {
	const loaded = await context.loadConfig();
	const runtime = await openRuntime({ loaded, environment: context.environment, log: context.log, ...options });
	try {
		return await use(runtime);
	} finally {
		await runtime.close();
	}
}

/** Aborted by the first of the signals that comes; a second one ends the process. */
export function interruptSignal(
	context: Context,
	signals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM"],
): { readonly signal: AbortSignal; readonly done: () => void } {
	const aborter = new AbortController();
	const stop = () => {
		context.tell("stopping; once more ends the program at once");
		aborter.abort();
	};
	for (const name of signals) process.once(name, stop);
	return {
		signal: aborter.signal,
		done: () => {
			for (const name of signals) process.off(name, stop);
		},
	};
}
