import type { JsonObject } from "@mortise/sdk/contract";
import type { Broker } from "../broker/index.js";
import type { LoadedPlugin, PlannedTool, SecurityPolicy, TurnEvent } from "../contract/index.js";
import { errorReport, reportOf } from "../errors.js";
import { compileSchema } from "../json-schema.js";
import { type Approver, type AuditLog, decideOnRecord, type SessionAllowances } from "../policy/index.js";
import type { JobEdges } from "../pool/index.js";
import type { NativeTool } from "../tools/index.js";
import type { CodeStore } from "./code-store.js";

export type EdgeOptions = {
	readonly agent: string;
	readonly session: string;
	readonly turn: string;
	readonly policy: SecurityPolicy;
	/** The tools of this turn: the gate knows no others, whatever the worker says of them. */
	readonly tools: readonly PlannedTool[];
	readonly natives: readonly NativeTool[];
	/** The bundles this turn may run, by id. */
	readonly plugins: ReadonlyMap<string, LoadedPlugin>;
	readonly allowances: SessionAllowances;
	readonly approver?: Approver;
	readonly audit: Pick<AuditLog, "append">;
	readonly broker: Broker;
	readonly code: CodeStore;
	readonly keepArtefact: (call: string, text: string) => Promise<string>;
	readonly onEvent?: (event: TurnEvent) => void;
	readonly signal: AbortSignal;
};

/**
 * What the main thread does for one turn or call: the gate before each tool call (R112: N calls, N decisions, one path),
 * native tools after it, host functions of the turn's own bundles. Nothing here rejects.
 */
export function turnEdges(options: EdgeOptions): JobEdges {
	const { agent, session, turn, policy, broker, code } = options;
	const tools = new Map(options.tools.map((tool) => [tool.name, tool]));
	const natives = new Map(options.natives.map((native) => [native.tool.name, native]));
	/** Calls of native tools that the gate let through and that did not run yet: each runs once, with the arguments judged. */
	const open = new Map<string, { readonly name: string; readonly arguments: JsonObject }>();

	return {
		gate: async ({ call }) => {
			const tool = tools.get(call.name);
			const { record: _record, ...answer } = await decideOnRecord(
				{
					policy,
					tool,
					call,
					schemaCheck: checkArguments,
					agent,
					session,
					turn,
					allowances: options.allowances,
					signal: options.signal,
					...(options.approver === undefined ? {} : { approver: options.approver }),
				},
				options.audit,
			);
			if (answer.allowed && tool?.origin === "native")
				open.set(call.id, { name: call.name, arguments: answer.arguments });
			return answer;
		},
		native: async (request, signal) => {
			const allowed = open.get(request.call);
			open.delete(request.call);
			const native = allowed?.name === request.tool.name ? natives.get(allowed.name) : undefined;
			if (allowed === undefined || native === undefined) {
				return { ok: false, error: errorReport("gate.not_asked", { tool: request.tool.name }) };
			}
			try {
				const ended = AbortSignal.any([signal, options.signal]);
				return { ok: true, output: await native.execute(allowed.arguments, { agent, session, signal: ended }) };
			} catch (error) {
				return { ok: false, error: reportOf(error) };
			}
		},
		host: async (request, signal) => {
			const plugin = options.plugins.get(request.bundle);
			if (plugin === undefined)
				return { ok: false, failure: { code: "unauthorized", message: "no bundle of this turn" } };
			return broker.handle({
				plugin,
				agent,
				job: turn,
				name: request.name,
				arguments: request.arguments,
				signal: AbortSignal.any([signal, options.signal]),
				deadlineMs: Math.min(request.timeoutMs, plugin.limits.timeoutMs),
			});
		},
		code: async (bundle) => {
			if (options.plugins.has(bundle)) return code.codeOf(bundle);
			return { ok: false, error: errorReport("plugin.unknown", { id: bundle, known: [...options.plugins.keys()] }) };
		},
		artefact: async (call, text) => ({ id: await options.keepArtefact(call, text) }),
		event: (event) => options.onEvent?.(event),
	};
}

/** What is wrong with a call's arguments under its tool's own schema. */
function checkArguments(tool: PlannedTool, value: JsonObject): readonly string[] {
	const compiled = compileSchema(tool.input);
	return compiled.ok ? compiled.check(value) : [compiled.detail];
}
