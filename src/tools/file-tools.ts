import { type ToolCallOutput, text } from "@mortise/sdk/contract";
import { z } from "zod";
import { escapeText, HostError } from "../errors.js";
import { failedOutput, type NativeContext, type NativeTool, objectSchema } from "./native.js";
import { maxFileBytes, readWorkspaceFile, WorkspaceRefusal, writeWorkspaceFile } from "./workspace.js";

const Encoding = z.enum(["text", "base64"]).default("text");
const ReadInput = z.strictObject({ path: z.string(), encoding: Encoding });
const WriteInput = z.strictObject({ path: z.string(), content: z.string(), encoding: Encoding });

const path = { type: "string", minLength: 1, maxLength: 4096, description: "Relative to the workspace, with /." };
const encoding = { enum: ["text", "base64"], description: "text (UTF-8) unless given." };

/**
 * `file_read` and `file_write`, confined to one folder (rule R129: built against the policy's workspace, so two policies
 * make two pairs). Files are at most 1 MiB; links are never followed; missing folders are made when writing.
 *
 * @param workspace an absolute path; it need not exist yet
 */
export function createFileTools(workspace: string): readonly NativeTool[] {
	return [
		{
			tool: {
				origin: "native",
				name: "file_read",
				description: `Reads a file of the workspace, at most ${maxFileBytes} bytes.`,
				input: objectSchema({ path, encoding }, ["path"]),
				effects: ["read"],
			},
			execute: (input, context) =>
				guarded("file_read", context, async () => {
					const asked = ReadInput.safeParse(input);
					if (!asked.success) return failedOutput("file_read: the arguments do not have the right shape");
					const bytes = await readWorkspaceFile(workspace, asked.data.path);
					if (asked.data.encoding === "base64") return { content: text(bytes.toString("base64")) };
					const decoded = decodeText(bytes);
					if (decoded === undefined) return failedOutput("the file is not UTF-8 text; read it as base64");
					return { content: text(decoded) };
				}),
		},
		{
			tool: {
				origin: "native",
				name: "file_write",
				description: `Writes a file of the workspace, at most ${maxFileBytes} bytes, replacing what was there.`,
				input: objectSchema({ path, content: { type: "string" }, encoding }, ["path", "content"]),
				effects: ["write"],
			},
			execute: (input, context) =>
				guarded("file_write", context, async () => {
					const asked = WriteInput.safeParse(input);
					if (!asked.success) return failedOutput("file_write: the arguments do not have the right shape");
					const bytes = encode(asked.data.content, asked.data.encoding);
					if (bytes === undefined) return failedOutput("the content is not base64");
					await writeWorkspaceFile(workspace, asked.data.path, bytes, context.signal);
					return { content: text(`Wrote ${bytes.length} bytes to ${asked.data.path}.`) };
				}),
		},
	];
}

async function guarded(
	tool: string,
	context: NativeContext,
	work: () => Promise<ToolCallOutput>,
): Promise<ToolCallOutput> {
	try {
		context.signal.throwIfAborted();
		return await work();
	} catch (cause) {
		if (cause instanceof WorkspaceRefusal) return failedOutput(escapeText(cause.message));
		if (context.signal.aborted) throw new HostError("plugin.cancelled", { plugin: tool }, { cause });
		const detail = typeof cause === "object" && cause !== null && "code" in cause ? String(cause.code) : String(cause);
		throw new HostError("workspace.failed", { tool, detail }, { cause });
	}
}

function decodeText(bytes: Buffer): string | undefined {
	try {
		return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
	} catch {
		return undefined;
	}
}

function encode(content: string, as: "text" | "base64"): Buffer | undefined {
	if (as === "text") return Buffer.from(content, "utf8");
	return z.base64().safeParse(content).success ? Buffer.from(content, "base64") : undefined;
}
