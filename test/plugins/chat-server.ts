import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A server process that speaks chat completions on this machine, and the journal of what it was asked. */
export type ChatServer = {
	/** Where its API begins. */
	readonly baseUrl: string;
	readonly requests: () => Promise<readonly { readonly path: string; readonly body: unknown }[]>;
	readonly close: () => Promise<void>;
};

/** The one key the server accepts. */
export const serverKey = "test-key-1";

const fixtures = fileURLToPath(new URL("../fixtures/plugins/chat-completions.json", import.meta.url));

/** Starts aimock as a process of its own, on a free port of 127.0.0.1. */
export async function startChatServer(): Promise<ChatServer> {
	const main = createRequire(import.meta.url).resolve("@copilotkit/aimock");
	const program = join(dirname(main), "cli.js");
	const child = spawn(process.execPath, [program, "-p", "0", "-f", fixtures, "--strict"], {
		env: { AIMOCK_API_KEYS: serverKey },
		stdio: ["ignore", "pipe", "pipe"],
	});
	const origin = await new Promise<string>((resolve, reject) => {
		let said = "";
		const read = (chunk: Buffer) => {
			said += chunk.toString();
			const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
			if (found !== null) resolve(found[0]);
		};
		child.stdout.on("data", read);
		child.stderr.on("data", read);
		child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
	});
	return {
		baseUrl: `${origin}/v1`,
		async requests() {
			const response = await fetch(`${origin}/__aimock/journal`, { headers: { authorization: `Bearer ${serverKey}` } });
			const value = (await response.json()) as { path: string; body: unknown }[];
			return value;
		},
		async close() {
			const gone = new Promise((resolve) => child.once("exit", resolve));
			child.kill();
			await gone;
		},
	};
}
