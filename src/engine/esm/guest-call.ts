// Runs in: worker.
import type { Envelope } from "@mortise/sdk/contract";
import type { QuickJSHandle } from "quickjs-emscripten-core";
import type { ErrorReport, HostPort, PluginCall, PluginCode } from "../../contract/index.js";
import { errorReport } from "../../errors.js";
import { parseAnswer, type ReadAnswer } from "../answer.js";
import { probeOp } from "../probe-op.js";
import { underDeadline } from "../watchdog.js";
import { reportCrash, reportThrown, reportUnreadable } from "./breaks.js";
import type { Budget, Limit } from "./budget.js";
import { HostLink, maxArgumentUnits } from "./host-link.js";
import type { Engine } from "./quickjs.js";
import { connectDriver, type Driver } from "./realm.js";
import { GuestTimers } from "./timers.js";

/** The part of a plugin's code that this engine runs. */
export type EsmBody = Extract<PluginCode["body"], { profile: "wasm-js" }>;

/** How much later than the engine's own interrupt the watchdog strikes, in milliseconds: the first leaves a stack. */
const graceMs = 5;

/**
 * One call of a plugin in an engine of its own. Guest code runs in stretches, each under the engine's interrupt and
 * V8's watchdog; between them the call waits for replies and timers without holding the thread.
 */
export class GuestCall {
	readonly #code: PluginCode;
	readonly #body: EsmBody;
	readonly #call: PluginCall;
	readonly #engine: Engine;
	readonly #budget: Budget;
	readonly #timers: GuestTimers;
	readonly #link: HostLink;
	#driver: Driver | undefined;
	/** How the guest said the call ended; the first word counts. */
	#said: { readonly kind: string; readonly text: string } | undefined;
	#resolve: (answer: ReadAnswer) => void = () => {};
	#isOver = false;
	#deadline: NodeJS.Timeout | undefined;
	#next: NodeJS.Immediate | undefined;
	#onAbort: (() => void) | undefined;

	constructor(code: PluginCode, body: EsmBody, host: HostPort, call: PluginCall, engine: Engine, budget: Budget) {
		this.#code = code;
		this.#body = body;
		this.#call = call;
		this.#engine = engine;
		this.#budget = budget;
		const wake = () => this.#wake();
		this.#timers = new GuestTimers(wake);
		this.#link = new HostLink(code, host, call, wake);
	}

	/** Permissions the call tried to use without a grant. */
	get refused(): readonly string[] {
		return [...this.#link.refused];
	}

	/** Runs the call to its end. Never rejects. */
	run(): Promise<ReadAnswer> {
		return new Promise((resolve) => {
			this.#resolve = resolve;
			const { signal } = this.#call;
			const cancelled = () => this.#break(errorReport("plugin.cancelled", { plugin: this.#code.id }));
			if (signal?.aborted) {
				cancelled();
				return;
			}
			this.#onAbort = cancelled;
			signal?.addEventListener("abort", cancelled, { once: true });
			this.#deadline = setTimeout(() => this.#stop("timeout"), Math.max(0, this.#budget.clockLeftMs));
			this.#begin();
		});
	}

	#begin(): void {
		const { context } = this.#engine;
		let driver: Driver;
		let envelope: string;
		try {
			driver = this.#install();
			envelope = JSON.stringify(this.#envelope());
		} catch (error) {
			this.#break(reportCrash(this.#code, error, this.#engine.isFull()));
			return;
		}
		this.#driver = driver;
		this.#stretch(() => {
			this.#enter(driver.start, [context.newString(this.#body.entry), context.newString(envelope)]);
		});
	}

	#envelope(): Envelope {
		const { op, input, call, agent, config } = this.#call;
		const deadlineMs = Math.max(0, Math.floor(this.#budget.clockLeftMs));
		const ctx = {
			call,
			deadlineMs,
			...(agent === undefined ? {} : { agent }),
			config: config ?? this.#code.config,
		};
		return { v: 1, op, input, ctx };
	}

	#install(): Driver {
		const hooks = {
			send: (id: number, name: string, text: string) => this.#link.send(id, name, text),
			done: (kind: string, text: string) => {
				this.#said ??= { kind, text };
			},
			timer: (id: number, ms: number) => this.#timers.set(id, ms),
			cancel: (id: number) => this.#timers.cancel(id),
		};
		return connectDriver(this.#engine, this.#body.sources, hooks, {
			names: this.#link.names,
			argumentUnits: maxArgumentUnits,
			answerUnits: this.#code.limits.outputBytes,
			loadOnly: this.#call.op === probeOp,
			seed: [...crypto.getRandomValues(new Int32Array(4))],
		});
	}

	/** Something arrived: goes on in a turn of its own, so that a plugin that keeps itself busy lets others in between. */
	#wake(): void {
		if (this.#isOver || this.#next !== undefined) return;
		this.#next = setImmediate(() => {
			this.#next = undefined;
			const driver = this.#driver;
			if (this.#isOver || driver === undefined) return;
			const { context } = this.#engine;
			this.#stretch(() => {
				for (const { id, text } of this.#link.take()) {
					this.#enter(driver.settle, [context.newNumber(id), context.newString(text)]);
				}
				for (const id of this.#timers.take()) this.#enter(driver.fire, [context.newNumber(id)]);
			});
		});
	}

	#enter(target: QuickJSHandle, args: QuickJSHandle[]): void {
		const { context } = this.#engine;
		const result = context.callFunction(target, context.undefined, args);
		for (const arg of args) arg.dispose();
		if (result.error) this.#jobFailed(result.error);
		else result.value.dispose();
	}

	/** Lets the guest run: `enter`, then every job it left, at most until the budget ends. */
	#stretch(enter: () => void): void {
		const { ms, limit } = this.#budget.next();
		const { runtime } = this.#engine;
		let isInterrupted = false;
		const end = performance.now() + ms;
		runtime.setInterruptHandler(() => {
			isInterrupted ||= performance.now() >= end;
			return isInterrupted;
		});
		try {
			const outcome = underDeadline(ms > 0 ? ms + graceMs : 0, () => {
				enter();
				const jobs = runtime.executePendingJobs();
				if (jobs.error) this.#jobFailed(jobs.error);
				else jobs.dispose();
			});
			this.#budget.spend(outcome.cpuMs);
			if (!outcome.ok || isInterrupted) this.#stop(limit);
			else this.#settle();
		} catch (error) {
			this.#break(reportCrash(this.#code, error, this.#engine.isFull()));
		}
	}

	/** An exception that no promise caught: the driver catches all, so the engine itself ran out of something. */
	#jobFailed(error: QuickJSHandle): void {
		const { context } = this.#engine;
		const isNull = context.typeof(error) === "object" && context.eq(error, context.null);
		const read = (name: string) => {
			const value = isNull ? undefined : context.getProp(error, name);
			return value !== undefined && context.typeof(value) === "string" ? context.getString(value) : "";
		};
		const thrown = { type: isNull ? "null" : "object", name: read("name"), message: read("message"), stack: "" };
		this.#said ??= { kind: "threw", text: JSON.stringify(thrown) };
	}

	/** After a stretch: ends the call, or does what it asked and waits. */
	#settle(): void {
		if (this.#said === undefined) {
			const start = performance.now();
			this.#link.flush(() => this.#budget.next().ms > performance.now() - start);
			this.#budget.spend(performance.now() - start);
		}
		const { ms, limit } = this.#budget.next();
		if (this.#said !== undefined) this.#end(this.#read(this.#said));
		else if (ms <= 0) this.#stop(limit);
		else if (this.#link.hasReplies) this.#wake();
		else if (this.#link.pending || this.#timers.pending) this.#timers.arm();
		else this.#break(errorReport("plugin.never_answered", { plugin: this.#code.id, op: this.#call.op }));
	}

	#read({ kind, text }: { readonly kind: string; readonly text: string }): ReadAnswer {
		const { limits, id: plugin } = this.#code;
		const { op } = this.#call;
		switch (kind) {
			case "answer":
				return parseAnswer(text, op, limits.outputBytes);
			case "loaded":
				return { ok: true, output: {} };
			case "too_large":
				return broken(
					errorReport("plugin.output_too_large", { op, bytes: Number(text), maxBytes: limits.outputBytes }),
				);
			case "not_json":
				return broken(reportUnreadable(this.#code, op, text, this.#engine.isFull()));
			case "no_handler":
				return broken(errorReport("plugin.no_handler", { plugin, entry: this.#body.entry }));
			case "load":
			case "threw": {
				const during = kind === "load" ? "load" : "call";
				return broken(reportThrown(this.#code, text, during, this.#engine.isFull()));
			}
			default:
				return broken(errorReport("plugin.crashed", { plugin, detail: "an end of no known kind" }));
		}
	}

	#stop(limit: Limit): void {
		const { id: plugin } = this.#code;
		const { cpuMs, timeoutMs } = this.#budget;
		this.#break(
			limit === "cpu"
				? errorReport("plugin.cpu_limit", { plugin, cpuMs })
				: errorReport("plugin.timeout", { plugin, timeoutMs, limit }),
		);
	}

	#break(error: ErrorReport): void {
		this.#end(broken(error));
	}

	/** Ends the call once. The engine is not taken down: nothing refers to it any more. */
	#end(answer: ReadAnswer): void {
		if (this.#isOver) return;
		this.#isOver = true;
		clearTimeout(this.#deadline);
		clearImmediate(this.#next);
		if (this.#onAbort !== undefined) this.#call.signal?.removeEventListener("abort", this.#onAbort);
		this.#timers.close();
		this.#link.close();
		this.#resolve(answer);
	}
}

function broken(error: ErrorReport): ReadAnswer {
	return { ok: false, error, retryable: false };
}
