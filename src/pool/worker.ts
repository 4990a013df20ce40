// Runs in: worker.

import { runTurn } from "../agent/turn.js";
import type { CallOutcome, PluginCode, ProbedProfile, TurnPlan } from "../contract/index.js";
import { type OpenedPlugin, openPlugin, prepareBody, prepareModule, probePlugin } from "../engine/index.js";
import { reportOf } from "../errors.js";
import { probeProfiles } from "../isolation/index.js";
import { compileSchema } from "../json-schema.js";
import type { Job, JobMessage, JobResult } from "./protocol.js";
import { linkWorker, type WorkerLink } from "./worker-side.js";

// nothing that runs here may end the thread by itself: a pool slot would wait for ever
process.exit = (code) => {
	throw new Error(`process.exit(${String(code)}) is not allowed in a worker`);
};

/** Runs one job. Never rejects. */
export default async function run(message: JobMessage): Promise<JobResult[Job["kind"]]> {
	const link = linkWorker(message);
	try {
		return await runJob(message.job, link);
	} catch (error) {
		return failedJob(message.job.kind, error);
	}
	// the ports are closed by the main thread: closing here would race with the answer
}

async function runJob(job: Job, link: WorkerLink): Promise<JobResult[Job["kind"]]> {
	switch (job.kind) {
		case "turn":
			return runTurnJob(job.plan, link);
		case "call": {
			const opened = await openBundle(job.bundle, link);
			if (!opened.ok) return opened.failed;
			return opened.plugin.call({
				op: job.op,
				input: job.input,
				call: job.call,
				timeoutMs: job.timeoutMs,
				signal: link.signal,
				...(job.agent === undefined ? {} : { agent: job.agent }),
				...(job.config === undefined ? {} : { config: job.config }),
			});
		}
		case "probe":
			return probePlugin(job.spec);
		case "prepare":
			return prepareBody(job.spec);
		case "canaries":
			return probeProfiles(openPlugin, { prepare: prepareModule });
		default:
			return job satisfies never;
	}
}

async function runTurnJob(plan: TurnPlan, link: WorkerLink) {
	const opened = new Map<string, ReturnType<typeof openBundle>>();
	const open = (bundle: string) => {
		const already = opened.get(bundle);
		if (already !== undefined) return already;
		const opening = openBundle(bundle, link);
		opened.set(bundle, opening);
		return opening;
	};
	return runTurn(plan, {
		chat: async (input, signal, onEmit) => {
			const plugin = await open(plan.provider.bundle);
			if (!plugin.ok) return plugin.failed;
			return plugin.plugin.call({
				op: "provider.chat",
				input,
				call: `${plan.turn}:chat`,
				timeoutMs: plan.limits.timeoutMs,
				agent: plan.agent,
				config: plan.provider.config,
				signal,
				...(onEmit === undefined ? {} : { onEmit }),
			});
		},
		gate: (question) => link.ask<"gate">({ kind: "gate", question }),
		callTool: async (tool, call, signal): Promise<CallOutcome> => {
			if (tool.origin === "native") {
				const started = performance.now();
				const reply = await link.ask<"native">({ kind: "native", tool, call: call.id, arguments: call.arguments });
				const ms = performance.now() - started;
				return reply.ok
					? { ok: true, output: reply.output, ms }
					: { ok: false, error: reply.error, retryable: false, ms };
			}
			const plugin = await open(tool.bundle);
			if (!plugin.ok) return plugin.failed;
			return plugin.plugin.call({
				op: "tool.call",
				input: { name: tool.name, arguments: call.arguments },
				call: call.id,
				timeoutMs: plan.limits.timeoutMs,
				agent: plan.agent,
				signal,
			});
		},
		checkOutput: (tool, structured) => {
			if (tool.output === undefined) return [];
			const compiled = compileSchema(tool.output);
			return compiled.ok ? compiled.check(structured) : [compiled.detail];
		},
		keepArtefact: async (call, text) => (await link.ask<"artefact">({ kind: "artefact", call, text })).id,
		emit: (event) => link.tell({ type: "event", event }),
		signal: link.signal,
	});
}

type Opened =
	| { readonly ok: true; readonly plugin: OpenedPlugin }
	| { readonly ok: false; readonly failed: CallOutcome };

async function openBundle(bundle: string, link: WorkerLink): Promise<Opened> {
	const reply = await link.ask<"code">({ kind: "code", bundle });
	if (!reply.ok) return { ok: false, failed: { ok: false, error: reply.error, retryable: false, ms: 0 } };
	const code: PluginCode = reply.code;
	return { ok: true, plugin: openPlugin(code, link.hostPort(bundle)) };
}

function failedJob(kind: Job["kind"], cause: unknown): JobResult[Job["kind"]] {
	const error = reportOf(cause);
	switch (kind) {
		case "turn":
			return { ok: false, error, tools: [] };
		case "call":
			return { ok: false, error, retryable: false, ms: 0 };
		case "probe":
		case "prepare":
			return { ok: false, error };
		case "canaries":
			return [] satisfies readonly ProbedProfile[];
		default:
			return kind satisfies never;
	}
}
