import { IsolationProfile, type JsonObject, type JsonSchema, type ToolCallOutput } from "@mortise/sdk/contract";
import type { AgentSpec } from "../agent/index.js";
import { resolveAgent } from "../agent/index.js";
import {
	type CallOutcome,
	type ErrorReport,
	effectiveIsolation,
	type LoadedPlugin,
	type PlannedTool,
} from "../contract/index.js";
import { errorReport, HostError, reportOf } from "../errors.js";
import { compileSchema } from "../json-schema.js";
import { type Approver, createAllowances, resolvePolicy } from "../policy/index.js";
import { type NativeOptions, nativeTools } from "./natives.js";
import type { RuntimeParts } from "./runtime.js";
import { turnEdges } from "./turn-edges.js";

export type ToolCallRequest = {
	readonly tool: string;
	readonly arguments: JsonObject;
	/** Under the policy of this agent of the configuration; without it, one that asks for every tool. */
	readonly agent?: string;
	/** Take the tool from this bundle, whoever has the name. */
	readonly bundle?: string;
	/** The weakest profile to accept. */
	readonly profile?: string;
	readonly approver?: Approver;
	readonly signal?: AbortSignal;
};

/** What a tool call came to. `ok` is false for a denial, a failure and a result that reports an error. */
export type ToolCallResult = {
	readonly ok: boolean;
	/** Who provides the tool: a bundle's id, or `native`. */
	readonly owner: string;
	readonly decision: "allow" | "deny";
	/** The rule that decided. */
	readonly rule: string;
	readonly content: ToolCallOutput["content"];
	readonly structured?: ToolCallOutput["structured"];
	readonly isError?: true;
	readonly failure?: ErrorReport;
	/** Permissions it tried to use without a grant. */
	readonly refused?: readonly string[];
	readonly ms: number;
};

type Desk = RuntimeParts & Pick<NativeOptions, "callMemory"> & { readonly signal: AbortSignal };

/** How much longer than the tool's own limit its job may take, in milliseconds. */
const graceMs = 1000;

export async function callTool(request: ToolCallRequest, desk: Desk): Promise<ToolCallResult> {
	const spec = specFor(request.agent, desk);
	const tool = findTool(request, desk);
	const plugin = tool.origin === "plugin" ? pluginOf(tool.bundle, request.profile, desk) : undefined;
	const policy = resolvePolicy(
		{
			autonomy: spec.policy.autonomy,
			always_ask: [...spec.policy.alwaysAsk],
			auto_approve: [...spec.policy.autoApprove],
			workspace: spec.policy.workspace ?? desk.home.workspace(spec.key),
		},
		spec.tools,
	);
	const natives = nativeTools(spec, policy.workspace ?? "", desk);
	const job = desk.history.newId();
	const signal = request.signal === undefined ? desk.signal : AbortSignal.any([request.signal, desk.signal]);
	const edges = turnEdges({
		...desk,
		agent: spec.key,
		session: job,
		turn: job,
		policy,
		tools: [tool],
		natives,
		plugins: new Map(plugin === undefined ? [] : [[plugin.bundle.manifest.id, plugin]]),
		allowances: createAllowances(),
		keepArtefact: async () => "",
		signal,
		...(request.approver === undefined ? {} : { approver: request.approver }),
	});
	const owner = tool.origin === "plugin" ? tool.bundle : "native";
	const call = { id: job, name: tool.name, arguments: request.arguments };
	const answer = await edges.gate({ call });
	if (!answer.allowed) {
		const failure: ErrorReport = {
			code: `gate.${answer.rule}`,
			owner: "operator",
			message: answer.reason,
			...(answer.rule === "no-approver"
				? { next: "Approve it with --yes, or name the tool under auto_approve in the agent's policy." }
				: {}),
		};
		return { ok: false, owner, decision: "deny", rule: answer.rule, content: [], failure, ms: 0 };
	}
	const started = performance.now();
	const outcome =
		plugin === undefined
			? await callNative(edges, tool, job, answer.arguments, started)
			: await desk.pool
					.run(
						{
							kind: "call",
							call: job,
							bundle: plugin.bundle.manifest.id,
							op: "tool.call",
							input: { name: tool.name, arguments: answer.arguments },
							timeoutMs: plugin.limits.timeoutMs,
							agent: spec.key,
						},
						edges,
						{ timeoutMs: plugin.limits.timeoutMs + graceMs, signal },
					)
					.catch((error: unknown): CallOutcome => {
						return { ok: false, error: reportOf(error), retryable: false, ms: performance.now() - started };
					})
					.finally(() => desk.broker.endJob(job));
	return resultOf(outcome, tool, owner, answer.rule);
}

async function callNative(
	edges: ReturnType<typeof turnEdges>,
	tool: PlannedTool,
	call: string,
	cleaned: JsonObject,
	started: number,
): Promise<CallOutcome> {
	const reply = await edges.native({ kind: "native", tool, call, arguments: cleaned }, new AbortController().signal);
	const ms = performance.now() - started;
	return reply.ok ? { ok: true, output: reply.output, ms } : { ok: false, error: reply.error, retryable: false, ms };
}

function resultOf(outcome: CallOutcome, tool: PlannedTool, owner: string, rule: string): ToolCallResult {
	const shared = {
		owner,
		decision: "allow" as const,
		rule,
		ms: Math.round(outcome.ms * 1000) / 1000,
		...(outcome.refused === undefined ? {} : { refused: outcome.refused }),
	};
	if (!outcome.ok) return { ok: false, content: [], failure: outcome.error, ...shared };
	// the engine, or the native tool's own type, has checked the shape
	const { content, structured, isError } = outcome.output as ToolCallOutput;
	const wrong = isError === true || tool.output === undefined ? [] : checkOutput(tool.output, structured);
	if (wrong.length > 0) {
		const failure = errorReport("turn.output_invalid", { tool: tool.name, detail: wrong.join("; ") });
		return { ok: false, content, failure, ...shared };
	}
	return {
		ok: isError !== true,
		content,
		...(structured === undefined ? {} : { structured }),
		...(isError === true ? { isError } : {}),
		...shared,
	};
}

/** What is wrong with a structured result under the tool's own `output` schema, as in a turn. */
function checkOutput(schema: JsonSchema, structured: unknown): readonly string[] {
	if (structured === undefined) return ["it promises structured output and gave none"];
	const compiled = compileSchema(schema);
	return compiled.ok ? compiled.check(structured) : [compiled.detail];
}

function findTool(request: ToolCallRequest, desk: Desk): PlannedTool {
	const found = desk.registry.tools.find((tool) => tool.name === request.tool);
	const isWanted = request.bundle === undefined || (found?.origin === "plugin" && found.bundle === request.bundle);
	if (found !== undefined && isWanted) return found;
	throw new HostError("tool.unknown", { name: request.tool });
}

function pluginOf(id: string, profile: string | undefined, desk: Desk): LoadedPlugin {
	const plugin = desk.set.plugins.find((each) => each.bundle.manifest.id === id);
	if (plugin === undefined) throw new HostError("plugin.unknown", { id, known: [] });
	const floor = profile === undefined ? undefined : IsolationProfile.parse(profile);
	const effective = effectiveIsolation(plugin.bundle.manifest.runtime, [plugin.isolation, floor]);
	const isProvided = desk.profiles.some((each) => each.profile === effective && each.provided);
	if (!isProvided) throw new HostError("load.not_provided", { id, profile: effective });
	return plugin;
}

/** The named agent, or one of the command line's own: it may have every tool, and asks for each. */
function specFor(agent: string | undefined, desk: Desk): AgentSpec {
	const alias = agent ?? "command-line";
	const config = agent === undefined ? { ...desk.settings, agents: { [alias]: { memory: "sqlite" } } } : desk.settings;
	const { spec, failures } = resolveAgent({ config, folder: desk.folder, alias });
	if (spec !== undefined && failures.length === 0) return spec;
	throw new HostError("agent.unknown", { agent: alias, detail: failures.map((failure) => failure.message).join("; ") });
}
