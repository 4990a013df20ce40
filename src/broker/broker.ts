import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { type HostArguments, type HostFunction, type HostResult, hostFunctions } from "@mortise/sdk/contract";
import type { LoadedPlugin } from "../contract/index.js";
import type { Database } from "../database.js";
import { heardByMany } from "../heard-by-many.js";
import type { Logger } from "../log.js";
import { checkValue, faultText } from "../schema-check.js";
import { performHttp } from "./http.js";
import { createKv } from "./kv.js";
import { createPlaceholders } from "./placeholders.js";
import { createPluginLog } from "./plugin-log.js";
import { Refusal, ungranted } from "./refusal.js";
import type { SecretStore } from "./secrets.js";
import { createStreams } from "./streams.js";
import { createTransport, type TransportOptions } from "./transport.js";

/** Calls of each host function that one job may make; the next one fails as `rate_limited`. */
export const callCaps: Readonly<Record<HostFunction, number>> = {
	http: 100,
	http_read: 50_000,
	kv: 1000,
	log: 200,
	secret: 100,
	now: 100_000,
	random: 10_000,
	// what is emitted goes to the turn's own thread and is bounded there
	emit: 0,
};

export type BrokerOptions = TransportOptions & {
	readonly database: Database;
	readonly secrets: SecretStore;
	readonly log: Logger;
	/** Where the plugins' log files go. */
	readonly logsFolder: string;
	readonly now?: () => Date;
};

/** One call of a host function, as it reaches the main thread. */
export type BrokerRequest = {
	readonly plugin: LoadedPlugin;
	/** The agent for whom the plugin runs: its key-value space is separate. */
	readonly agent: string;
	/** The turn or call this belongs to: counts and placeholders last as long. */
	readonly job: string;
	readonly name: HostFunction;
	/** Checked here against the contract's schema. */
	readonly arguments: unknown;
	readonly signal: AbortSignal;
	/** Time left, in milliseconds. */
	readonly deadlineMs: number;
};

/** Answers what plugins ask of the host. Runs on the main thread. */
export type Broker = {
	/** Never throws or rejects. `permission` of a failure is the grant that was missing. No part of it holds a secret value. */
	readonly handle: (request: BrokerRequest) => Promise<HostResult>;
	/** Forgets a job's placeholders and counts, and cancels what it still asks. */
	readonly endJob: (job: string) => void;
	/** Ends every job, closes connections and writes the logs out. */
	readonly close: () => Promise<void>;
};

type JobState = { readonly counts: Map<string, number>; readonly stop: AbortController };

/** Ended jobs remembered, so that a straggler cannot begin one anew. */
const maxEnded = 4096;

export function createBroker(options: BrokerOptions): Broker {
	const { secrets, log } = options;
	const transport = createTransport(options);
	const placeholders = createPlaceholders();
	const streams = createStreams();
	const kv = createKv(options.database);
	const pluginLog = createPluginLog({
		log,
		folder: options.logsFolder,
		redactor: secrets.redactor,
		...(options.now === undefined ? {} : { now: options.now }),
	});
	const jobs = new Map<string, JobState>();
	const ended = new Map<string, JobState>();
	let closed = false;

	const newJob = (): JobState => {
		const stop = new AbortController();
		heardByMany(stop.signal);
		return { counts: new Map(), stop };
	};
	const jobOf = (job: string, name: HostFunction): JobState => {
		const past = ended.get(job);
		// nobody waits for a log line, so the last ones can come after the end; they still count
		if (past !== undefined && name === "log" && !closed) return past;
		if (closed || past !== undefined) throw new Refusal("cancelled", "the job has ended");
		const state = jobs.get(job) ?? newJob();
		jobs.set(job, state);
		return state;
	};
	const endJob = (job: string): void => {
		const state = jobs.get(job) ?? newJob();
		state.stop.abort();
		jobs.delete(job);
		placeholders.endJob(job);
		streams.endJob(job);
		ended.set(job, state);
		const oldest = ended.size > maxEnded ? ended.keys().next().value : undefined;
		if (oldest !== undefined) ended.delete(oldest);
	};
	let last: Promise<unknown> = Promise.resolve();
	/** One after the other, each in a round of the event loop of its own: many at once must not hold it. */
	const inTurn = <T>(run: () => T): Promise<T> => {
		const mine = last.then(() => setImmediate()).then(run);
		last = mine.catch(() => undefined);
		return mine;
	};
	const answer = async (request: BrokerRequest, job: JobState): Promise<unknown> => {
		const { plugin, name } = request;
		const sender = { plugin, job: request.job };
		const { id } = plugin.bundle.manifest;
		switch (name) {
			case "now":
				readArguments(name, request.arguments);
				return { ms: (options.now?.() ?? new Date()).getTime() };
			case "random":
				return { base64: randomBytes(readArguments(name, request.arguments).bytes).toString("base64") };
			case "log":
				pluginLog.write({ plugin: id, job: request.job, line: readArguments(name, request.arguments) });
				return {};
			case "kv": {
				const args = readArguments(name, request.arguments);
				requireKv(plugin);
				return inTurn(() => kv.perform({ bundle: id, agent: request.agent }, args));
			}
			case "secret": {
				const args = readArguments(name, request.arguments);
				requireSecret(plugin, args.name);
				if (!secrets.has(args.name))
					throw new Refusal("not_found", `the secret ${args.name} is not set; run: mortise secret set ${args.name}`);
				return { placeholder: placeholders.issue({ job: request.job, bundle: id, name: args.name }) };
			}
			case "http": {
				const args = readArguments(name, request.arguments);
				// a stream lives on after this call, until it is read or its job ends
				const { signal, release } = eitherSignal(request.signal, job.stop.signal);
				try {
					return await performHttp(
						{ sender, arguments: args, deadlineMs: request.deadlineMs, signal },
						{ transport, placeholders, secrets, streams },
					);
				} finally {
					release();
				}
			}
			case "http_read": {
				const args = readArguments(name, request.arguments);
				const owner = { job: request.job, bundle: id };
				if (args.cancel !== true) return streams.read(owner, args.stream);
				streams.cancel(owner, args.stream);
				return { body: { text: "" }, done: true };
			}
			case "emit":
				throw new Refusal("unsupported", "nothing is emitted here");
			default:
				name satisfies never;
				throw new Refusal("unsupported", "there is no such host function");
		}
	};

	return {
		handle: async (request) => {
			try {
				const job = jobOf(request.job, request.name);
				count(job, request);
				return { ok: true, value: await answer(request, job) };
			} catch (error) {
				if (error instanceof Refusal) return redacted(error.result, secrets);
				const detail = error instanceof Error ? error.message : String(error);
				log.error({ host: request.name, detail: safely(detail, secrets) }, "host function broke");
				return {
					ok: false,
					failure: { code: "internal", message: `the host broke while it answered ${request.name}` },
				};
			}
		},
		endJob,
		close: async () => {
			closed = true;
			for (const job of [...jobs.keys()]) endJob(job);
			await transport.close();
			await pluginLog.close();
		},
	};
}

function count(job: JobState, request: BrokerRequest): void {
	const key = `${request.plugin.bundle.manifest.id}\n${request.name}`;
	const made = (job.counts.get(key) ?? 0) + 1;
	const most = Object.hasOwn(callCaps, request.name) ? callCaps[request.name] : 0;
	if (made > most)
		throw new Refusal("rate_limited", `more than ${most} calls of ${request.name}`, { retryable: false });
	job.counts.set(key, made);
}

function readArguments<F extends HostFunction>(name: F, given: unknown): HostArguments<F> {
	const checked = parse(name, given);
	if (checked?.ok !== true) {
		const detail = checked === undefined ? "its arguments cannot be read" : faultText(checked.faults);
		throw new Refusal("invalid_input", `${name}: ${detail}`.slice(0, 500));
	}
	// the schema of this name was the one that passed
	return checked.value as HostArguments<F>;
}

function parse(name: HostFunction, given: unknown) {
	try {
		return checkValue(hostFunctions[name].arguments, given);
	} catch {
		// nested deeper than the stack
		return undefined;
	}
}

function requireKv(plugin: LoadedPlugin): void {
	if (plugin.permissions.kv === true) return;
	const { id } = plugin.bundle.manifest;
	if (plugin.permissions.missing.includes("kv")) throw ungranted(id, "kv", "kv is not granted");
	throw new Refusal("unauthorized", `plugin.yaml of ${id} does not ask for kv`);
}

function requireSecret(plugin: LoadedPlugin, name: string): void {
	if ((plugin.permissions.secrets ?? []).some((secret) => secret.name === name)) return;
	const { id } = plugin.bundle.manifest;
	const word = `secret:${name}`;
	if (plugin.permissions.missing.includes(word)) throw ungranted(id, word, `the secret ${name} is not granted`);
	throw new Refusal("unauthorized", `plugin.yaml of ${id} does not ask for the secret ${name}`);
}

function redacted(result: Extract<HostResult, { ok: false }>, secrets: SecretStore): HostResult {
	const failure = { ...result.failure, message: safely(result.failure.message, secrets) };
	const { permission } = result;
	return { ok: false, failure, ...(permission === undefined ? {} : { permission: safely(permission, secrets) }) };
}

function safely(message: string, secrets: SecretStore): string {
	return secrets.redactor().text(message);
}

/** One signal for two, whose listeners can be taken off again: the job's signal outlives many calls. */
function eitherSignal(...signals: readonly AbortSignal[]): {
	readonly signal: AbortSignal;
	readonly release: () => void;
} {
	const both = new AbortController();
	const stop = (): void => both.abort();
	for (const signal of signals) {
		if (signal.aborted) stop();
		signal.addEventListener("abort", stop, { once: true });
	}
	return {
		signal: both.signal,
		release: () => {
			for (const signal of signals) signal.removeEventListener("abort", stop);
		},
	};
}
