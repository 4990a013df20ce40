import {
	type AgentFailure,
	type AgentSpec,
	allowsTool,
	type History,
	type Narrowed,
	planTurn,
} from "../agent/index.js";
import type { Broker, GrantStore, SecretStore } from "../broker/index.js";
import type {
	CallOutcome,
	ErrorReport,
	LoadedPlugin,
	LoadedSet,
	PlannedTool,
	ProbedProfile,
	RuntimeDocument,
	SecurityPolicy,
	TurnEvent,
	TurnOutcome,
} from "../contract/index.js";
import type { Database } from "../database.js";
import { reportOf } from "../errors.js";
import { heardByMany } from "../heard-by-many.js";
import {
	type Approver,
	type AuditLog,
	createAllowances,
	resolvePolicy,
	type SessionAllowances,
} from "../policy/index.js";
import type { Pool } from "../pool/index.js";
import type { StateTarget } from "../state/index.js";
import { type Assembled, type MemoryStore, type NativeTool, type Why, why } from "../tools/index.js";
import { type AdmittedAgent, admitReference, type RefusedAgent } from "./agents.js";
import { keepArtefact } from "./artefacts.js";
import type { CodeStore } from "./code-store.js";
import type { Home } from "./home.js";
import { nativeTools } from "./natives.js";
import { type Published, publishState } from "./publish-state.js";
import type { Settings } from "./settings.js";
import { callTool, type ToolCallRequest, type ToolCallResult } from "./tool-call.js";
import { turnEdges } from "./turn-edges.js";

/** What a runtime is made of. It owns the pool, the broker, the database, the audit log and the targets, and closes them. */
export type RuntimeParts = {
	readonly settings: Settings;
	readonly folder: string;
	readonly home: Home;
	readonly database: Database;
	readonly pool: Pool;
	readonly set: LoadedSet;
	readonly registry: Assembled;
	readonly document: RuntimeDocument;
	readonly profiles: readonly ProbedProfile[];
	readonly grants: GrantStore;
	readonly secrets: SecretStore;
	readonly sqlite: MemoryStore | undefined;
	readonly history: History;
	readonly audit: AuditLog;
	readonly broker: Broker;
	readonly code: CodeStore;
	readonly targets: ReadonlyMap<string, StateTarget>;
};

export type TurnOptions = {
	/** A session to go on with; a new one without it. */
	readonly session?: string;
	readonly approver?: Approver;
	readonly signal?: AbortSignal;
	readonly onEvent?: (event: TurnEvent) => void;
	/** Whether `onEvent` wants the answers in pieces, as `model-delta`; no, unless given. */
	readonly stream?: boolean;
	/** Relative repository paths start here; the process's folder unless given. */
	readonly cwd?: string;
};

/** What became of a turn: refused before anything ran, run to a reply, or failed with an owner. */
export type TurnResult =
	| { readonly kind: "refused"; readonly failures: readonly AgentFailure[] }
	| ({ readonly kind: "done"; readonly published?: Published } & TurnIds &
			Omit<Extract<TurnOutcome, { ok: true }>, "ok" | "messages">)
	| ({ readonly kind: "failed"; readonly error: ErrorReport; readonly published?: Published } & TurnIds &
			Pick<TurnOutcome, "tools">);
type TurnIds = { readonly session: string; readonly turn: string; readonly narrowed: readonly Narrowed[] };

/** How much longer than its own limit a turn may take to say that it was over it, in milliseconds. */
const turnGraceMs = 1000;

/** A loaded set with everything that runs its agents. Made by `openRuntime`. */
export class Runtime {
	readonly #parts: RuntimeParts;
	readonly #allowances = new Map<string, SessionAllowances>();
	readonly #sessions = new Map<string, Promise<unknown>>();
	readonly #stop = new AbortController();

	constructor(parts: RuntimeParts) {
		this.#parts = parts;
		heardByMany(this.#stop.signal);
	}

	get set(): LoadedSet {
		return this.#parts.set;
	}
	get registry(): Assembled {
		return this.#parts.registry;
	}
	get document(): RuntimeDocument {
		return this.#parts.document;
	}
	get profiles(): readonly ProbedProfile[] {
		return this.#parts.profiles;
	}
	get settings(): Settings {
		return this.#parts.settings;
	}
	get home(): Home {
		return this.#parts.home;
	}

	/** Who provides a tool, and who lost the name (DESIGN section 11). */
	why(name: string): Why {
		return why(name, this.registry);
	}

	/** Whether an agent would start, without starting it: every reason in one report. */
	admit(reference: string, cwd: string): Promise<AdmittedAgent | RefusedAgent> {
		const { settings, folder, set, document, registry, secrets, targets, home } = this.#parts;
		return admitReference(reference, cwd, {
			settings,
			folder,
			set,
			document,
			toolNames: new Set(registry.tools.map((tool) => tool.name)),
			hasSecret: secrets.has,
			targets,
			stateFolder: home.stateFolder,
		});
	}

	/**
	 * Runs one turn of an agent. Turns of one session come one after the other.
	 *
	 * @throws HostError `session.other_agent`, `session.bad_id`, `session.turn_limit`
	 */
	async runTurn(reference: string, message: string, options: TurnOptions = {}): Promise<TurnResult> {
		const admitted = await this.admit(reference, options.cwd ?? process.cwd());
		if (!admitted.ok) return { kind: "refused", failures: admitted.failures };
		const { history } = this.#parts;
		const session = options.session ?? history.newId();
		return this.#inTurn(session, () => this.#runAdmitted(admitted, session, message, options));
	}

	/**
	 * Calls one tool through the gate, without a model.
	 *
	 * @throws HostError `tool.unknown`, `load.not_provided`
	 */
	callTool(request: ToolCallRequest): Promise<ToolCallResult> {
		return callTool(request, { ...this.#parts, signal: this.#stop.signal, callMemory: this.#callMemory });
	}

	async close(): Promise<void> {
		this.#stop.abort();
		const { pool, broker, audit, targets, database } = this.#parts;
		await pool.close();
		await broker.close();
		for (const target of targets.values()) target.close();
		audit.close();
		database.close();
	}

	async #runAdmitted(
		admitted: AdmittedAgent,
		session: string,
		message: string,
		options: TurnOptions,
	): Promise<TurnResult> {
		const { history, pool, home } = this.#parts;
		const { spec, provider, narrowed } = admitted;
		history.check(session, spec.key);
		const past = history.load(session);
		const turn = history.newId();
		const policy = policyOf(spec, home);
		const workspace = policy.workspace ?? home.workspace(spec.key);
		const natives = nativeTools(spec, workspace, { ...this.#parts, callMemory: this.#callMemory });
		const tools = this.#toolsFor(spec, natives);
		const plan = planTurn({
			spec,
			provider,
			tools,
			history: past?.messages ?? [],
			pastTurns: past?.turns ?? 0,
			message,
			turn,
			session,
			stream: options.stream === true,
		});
		const signal =
			options.signal === undefined
				? this.#stop.signal
				: heardByMany(AbortSignal.any([options.signal, this.#stop.signal]));
		const edges = turnEdges({
			...this.#parts,
			agent: spec.key,
			session,
			turn,
			policy,
			tools,
			natives,
			plugins: this.#pluginsFor(provider.bundle, tools),
			allowances: this.#allowancesOf(session),
			keepArtefact: (call, text) => keepArtefact(workspace, turn, call, text),
			signal,
			...(options.approver === undefined ? {} : { approver: options.approver }),
			...(options.onEvent === undefined ? {} : { onEvent: options.onEvent }),
		});
		await this.#publish(admitted, { session, turn, status: "running" });
		const timeoutMs = plan.limits.timeoutMs + turnGraceMs;
		const outcome = await pool
			.run({ kind: "turn", plan }, edges, { timeoutMs, signal })
			.catch((error: unknown): TurnOutcome => ({ ok: false, error: reportOf(error), tools: [] }))
			.finally(() => this.#parts.broker.endJob(turn));
		const ids = { session, turn, narrowed };
		if (!outcome.ok) {
			const published = await this.#publish(admitted, {
				session,
				turn,
				status: "failed",
				error: outcome.error.message,
			});
			return { kind: "failed", ...ids, error: outcome.error, tools: outcome.tools, ...published };
		}
		const { ok: _ok, messages, ...rest } = outcome;
		history.append({ session, agent: spec.key, turn, messages });
		const published = await this.#publish(admitted, { session, turn, status: "done", reply: outcome.reply });
		return { kind: "done", ...ids, ...rest, ...published };
	}

	/** The winners that the agent may have; its own native tools stand for the registry's. */
	#toolsFor(spec: AgentSpec, natives: readonly NativeTool[]): readonly PlannedTool[] {
		const own = new Map(natives.map((native) => [native.tool.name, native.tool]));
		return this.registry.tools
			.filter((tool) => allowsTool(spec.tools, tool.name))
			.flatMap((tool): readonly PlannedTool[] => {
				if (tool.origin === "plugin") return [tool];
				const native = own.get(tool.name);
				return native === undefined ? [] : [native];
			});
	}

	#pluginsFor(provider: string, tools: readonly PlannedTool[]): ReadonlyMap<string, LoadedPlugin> {
		const wanted = new Set([provider, ...tools.flatMap((tool) => (tool.origin === "plugin" ? [tool.bundle] : []))]);
		return new Map(
			this.set.plugins
				.filter((plugin) => wanted.has(plugin.bundle.manifest.id))
				.map((plugin) => [plugin.bundle.manifest.id, plugin]),
		);
	}

	readonly #callMemory = (bundle: string, agent: string, op: string, input: unknown): Promise<CallOutcome> =>
		this.#callPlugin({ bundle, agent, op, input });

	/** One operation of a bundle outside a turn's loop: memory, or a state target. Never rejects. */
	async #callPlugin(call: { bundle: string; agent: string; op: string; input: unknown }): Promise<CallOutcome> {
		const { pool, history, broker, code } = this.#parts;
		const plugin = this.set.plugins.find((each) => each.bundle.manifest.id === call.bundle);
		const job = history.newId();
		const timeoutMs = plugin?.limits.timeoutMs ?? 0;
		const started = performance.now();
		const edges = turnEdges({
			...this.#parts,
			agent: call.agent,
			session: job,
			turn: job,
			policy: noTools,
			tools: [],
			natives: [],
			plugins: new Map(plugin === undefined ? [] : [[call.bundle, plugin]]),
			allowances: createAllowances(),
			keepArtefact: async () => "",
			signal: this.#stop.signal,
			broker,
			code,
		});
		return pool
			.run(
				{ kind: "call", call: job, bundle: call.bundle, op: call.op, input: call.input, timeoutMs, agent: call.agent },
				edges,
				{
					timeoutMs: timeoutMs + turnGraceMs,
					signal: this.#stop.signal,
				},
			)
			.catch((error: unknown): CallOutcome => {
				return { ok: false, error: reportOf(error), retryable: false, ms: performance.now() - started };
			})
			.finally(() => broker.endJob(job));
	}

	async #publish(
		admitted: AdmittedAgent,
		state: { session: string; turn: string; status: "running" | "done" | "failed"; reply?: string; error?: string },
	): Promise<{ readonly published?: Published }> {
		const published = await publishState(admitted, state, {
			runtime: this.document.runtime,
			targets: this.#parts.targets,
			set: this.set,
			callPlugin: (bundle, input) => this.#callPlugin({ bundle, agent: admitted.spec.key, op: "state.publish", input }),
		});
		return published === undefined ? {} : { published };
	}

	#allowancesOf(session: string): SessionAllowances {
		const known = this.#allowances.get(session) ?? createAllowances();
		this.#allowances.set(session, known);
		return known;
	}

	async #inTurn<T>(session: string, run: () => Promise<T>): Promise<T> {
		const before = this.#sessions.get(session) ?? Promise.resolve();
		const mine = before.catch(() => undefined).then(run);
		this.#sessions.set(session, mine);
		try {
			return await mine;
		} finally {
			if (this.#sessions.get(session) === mine) this.#sessions.delete(session);
		}
	}
}

/** An agent's policy, frozen, with a workspace of its own when it names none. */
export function policyOf(spec: AgentSpec, home: Home): SecurityPolicy {
	const { autonomy, alwaysAsk, autoApprove, workspace } = spec.policy;
	return resolvePolicy(
		{
			autonomy,
			always_ask: [...alwaysAsk],
			auto_approve: [...autoApprove],
			workspace: workspace ?? home.workspace(spec.key),
		},
		spec.tools,
	);
}

const noTools: SecurityPolicy = resolvePolicy({ autonomy: "read-only" }, { allow: [] });
