import { IsolationProfile, type JsonObject, textOf } from "@mortise/sdk/contract";
import { grantCommand } from "../broker/index.js";
import { readBundle, refusedError } from "../bundle/index.js";
import type { ToolCallResult } from "../runtime/index.js";
import { approverFor } from "./approver.js";
import { type Context, describeError, exitCodes, usageError } from "./context.js";
import { interruptSignal, withRuntime } from "./with-runtime.js";

/** `call TOOL JSON`: one tool call through the gate, without a model. */
export async function run(
	context: Context,
	args: readonly string[],
	options: Record<string, unknown>,
): Promise<number> {
	const [tool = "", json = "{}"] = args;
	const input = parseArguments(json);
	const profile = readProfile(options.profile);
	const named = typeof options.bundle === "string" ? options.bundle : undefined;
	const bundle = named === undefined ? undefined : await idOf(named);
	const { signal, done } = interruptSignal(context);
	try {
		const approver = approverFor(context, options);
		const result = await withRuntime(
			context,
			(runtime) =>
				runtime.callTool({
					tool,
					arguments: input,
					signal,
					...(approver === undefined ? {} : { approver }),
					...(bundle === undefined ? {} : { bundle }),
					...(profile === undefined ? {} : { profile }),
					...(typeof options.agent === "string" ? { agent: options.agent } : {}),
				}),
			named === undefined ? {} : { bundle: named },
		);
		context.print(result, describeResult(result));
		if (!context.json && result.failure !== undefined) context.tell(describeError(result.failure));
		// whatever a plugin makes of a refusal, the operator is told what would lift it
		for (const word of context.json ? [] : (result.refused ?? [])) {
			const command = grantCommand(result.owner, word);
			if (result.failure?.next?.includes(command) !== true) context.tell(`not granted: ${word}; run: ${command}`);
		}
		return result.ok ? exitCodes.ok : exitCodes.refused;
	} finally {
		done();
	}
}

function describeResult(result: ToolCallResult): string {
	const shown = textOf(result.content);
	if (shown !== "" || result.structured === undefined) return shown;
	return JSON.stringify(result.structured, null, 2);
}

function parseArguments(json: string): JsonObject {
	let value: unknown;
	try {
		value = JSON.parse(json);
	} catch (error) {
		throw usageError(`the arguments are not JSON: ${error instanceof Error ? error.message : String(error)}`);
	}
	if (typeof value !== "object" || value === null || Array.isArray(value))
		throw usageError("the arguments must be a JSON object");
	return value as JsonObject;
}

function readProfile(given: unknown): IsolationProfile | undefined {
	if (given === undefined) return undefined;
	const profile = IsolationProfile.safeParse(given);
	if (!profile.success) throw usageError(`--profile must be one of ${IsolationProfile.options.join(", ")}`);
	return profile.data;
}

async function idOf(path: string): Promise<string> {
	const read = await readBundle(path, { origin: "named" });
	if (read.ok) return read.bundle.manifest.id;
	throw refusedError(read.refused);
}
