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

/** Aborted by the first Ctrl-C or SIGTERM; the second Ctrl-C ends the process. */
export function interruptSignal(): { readonly signal: AbortSignal; readonly done: () => void } {
	const aborter = new AbortController();
	const stop = () => aborter.abort();
	process.once("SIGINT", stop);
	process.once("SIGTERM", stop);
	return {
		signal: aborter.signal,
		done: () => {
			process.off("SIGINT", stop);
			process.off("SIGTERM", stop);
		},
	};
}
