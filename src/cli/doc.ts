import { documentBytes, publishDocument } from "../capability/index.js";
import { type Context, exitCodes } from "./context.js";
import { withRuntime } from "./with-runtime.js";

/** `doc`: the capability document of what is loaded, on stdout or into a file. */
export function run(context: Context, _args: readonly string[], options: Record<string, unknown>): Promise<number> {
	return withRuntime(context, async ({ document }) => {
		if (typeof options.output === "string") {
			const { etag } = await publishDocument(document, options.output);
			context.print({ file: options.output, etag }, "");
			if (!context.json) context.tell(`wrote ${options.output} ${etag}`);
			return exitCodes.ok;
		}
		const format = !context.json && options.format === "yaml" ? "yaml" : "json";
		// the very bytes that are served, so that two runs can be compared
		context.print(document, new TextDecoder().decode(documentBytes(document, format)));
		return exitCodes.ok;
	});
}
