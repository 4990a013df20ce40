import { createInterface } from "node:readline/promises";
import { escapeText } from "../errors.js";
import type { ApprovalAnswer, Approver } from "../policy/index.js";
import type { Context } from "./context.js";

/**
 * Who answers approvals on the command line: `--yes` and `--deny` are the operator's word given in advance; on a
 * terminal a person is asked; elsewhere there is nobody, and the gate denies.
 */
export function approverFor(context: Context, options: Record<string, unknown>): Approver | undefined {
	if (options.deny === true) return async () => "deny";
	if (options.yes === true) return async () => "allow";
	if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) return undefined;
	// one question at a time, however many calls wait
	let line: Promise<unknown> = Promise.resolve();
	return (question, signal) => {
		const asked = line.then(() => {
			const { tool } = question;
			const owner = tool.origin === "plugin" ? tool.bundle : "native";
			const effects = tool.effects.length === 0 ? "" : `, effects: ${tool.effects.join(", ")}`;
			context.tell(
				`${tool.name} (${owner}${effects}) wants to run with ${escapeText(JSON.stringify(question.arguments))}`,
			);
			return askPerson(signal);
		});
		line = asked.catch(() => undefined);
		return asked;
	};
}

async function askPerson(signal: AbortSignal): Promise<ApprovalAnswer> {
	const reader = createInterface({ input: process.stdin, output: process.stderr });
	// the reader has the keys, so it takes Ctrl-C from the process, where it stops the turn
	reader.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
	try {
		const said = await reader.question("allow? [y]es, [n]o, [a]lways in this session: ", { signal });
		const word = said.trim().toLowerCase();
		if (word === "a" || word === "always") return "allow-always";
		return word === "y" || word === "yes" ? "allow" : "deny";
	} finally {
		reader.close();
	}
}
