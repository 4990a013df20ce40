import type { Answer, Envelope } from "../contract/envelope.js";
import type { Host } from "../contract/host.js";
import type { Context } from "./context.js";
import { failureOf, PluginFailure } from "./failure.js";
import { checkJsonSchema } from "./json-schema-check.js";
import { type KnownOperation, operationInputs } from "./operation-inputs.js";
import type { Memory, Provider, StateTarget } from "./sources.js";
import { refuseMisfits, type Tool } from "./tool.js";

/** What a plugin is made of; at least one part. One memory store and one state target at most: the door names neither. */
export type PluginParts = {
	readonly tools?: readonly Tool[];
	/** With several, `provider.chat` goes to the one that lists the model. */
	readonly providers?: readonly Provider[];
	readonly memory?: Memory;
	readonly stateTargets?: readonly StateTarget[];
};

/** What an ESM bundle exports as its default. */
export type Plugin = {
	/** Answers one envelope. Never rejects. */
	readonly handle: (envelope: Envelope, host: Host) => Promise<Answer>;
};

type Handler = (input: never, context: Context) => unknown;

/**
 * Makes the one door of a plugin out of its parts. Unknown operations answer `unknown_op`, input that does not fit
 * `invalid_input` with each place named, unknown tools `not_found`, memory options that the store does not know
 * `unsupported`; a thrown `PluginFailure`, or what a host function rejected with, keeps its code; all else is `internal`.
 * Throws a `TypeError` for parts that cannot be one plugin (none at all, or one name twice).
 * @example export default definePlugin({ tools: [defineTool({ name: "hello", run: () => "hello" })] });
 */
export function definePlugin(parts: PluginParts): Plugin {
	const handlers = handlersOf(parts);
	return {
		async handle(envelope, host) {
			try {
				return { ok: true, output: await answer(handlers, parts, envelope, host) };
			} catch (thrown) {
				return { ok: false, failure: failureOf(thrown) };
			}
		},
	};
}

async function answer(
	handlers: ReadonlyMap<string, Handler>,
	parts: PluginParts,
	envelope: Envelope,
	host: Host,
): Promise<unknown> {
	const { op, input, ctx } = envelopeOf(envelope);
	const handler = handlers.get(op);
	if (handler === undefined)
		throw new PluginFailure("unknown_op", `this plugin has no operation ${JSON.stringify(op)}`);
	if (op.startsWith("memory.")) refuseUnknownOptions(op as KnownOperation, input, parts.memory);
	refuseMisfits(checkJsonSchema(operationInputs[op as KnownOperation], input, ""));
	return handler(input as never, {
		host,
		config: ctx.config ?? {},
		agent: ctx.agent,
		deadlineMs: ctx.deadlineMs,
		call: ctx.call,
	});
}

function envelopeOf(value: unknown): Envelope {
	const envelope = value as Partial<Envelope> | null | undefined;
	const ctx = envelope?.ctx as Partial<Envelope["ctx"]> | null | undefined;
	if (typeof envelope !== "object" || envelope === null || envelope.v !== 1)
		throw new PluginFailure("invalid_input", "the envelope is not of version 1");
	if (typeof envelope.op !== "string") throw new PluginFailure("invalid_input", "the envelope's op must be a string");
	if (typeof ctx?.call !== "string" || typeof ctx.deadlineMs !== "number")
		throw new PluginFailure("invalid_input", "the envelope's ctx must have call, a string, and deadlineMs, a number");
	return envelope as Envelope;
}

/** `unsupported` comes before `invalid_input`: the caller used the contract, the store is what cannot. */
function refuseUnknownOptions(op: KnownOperation, input: unknown, memory: Memory | undefined): void {
	if (typeof input !== "object" || input === null) return;
	const known = Object.keys(operationInputs[op].properties);
	const features = memory?.features ?? [];
	const lacking = [
		...(features.includes("namespaces") ? [] : ["namespace"]),
		...(features.includes("since") ? [] : ["since", "until"]),
	];
	const refused = Object.keys(input).filter((name) => !known.includes(name) || lacking.includes(name));
	if (refused.length > 0)
		throw new PluginFailure(
			"unsupported",
			`this store does not know: ${refused.map((name) => `'${name}'`).join(", ")}`,
		);
}

function handlersOf({ tools = [], providers = [], memory, stateTargets = [] }: PluginParts): Map<string, Handler> {
	const handlers = new Map<string, Handler>();
	const add = <Input>(op: KnownOperation, handler: (input: Input, context: Context) => unknown) =>
		handlers.set(op, handler as Handler);
	refuseTwice("tool", tools);
	refuseTwice("provider", providers);
	if (stateTargets.length > 1) throw new TypeError("a plugin serves one state target: state.publish names none");

	if (tools.length > 0) {
		const byName = new Map(tools.map((tool) => [tool.name, tool]));
		add<{ name: string; arguments: unknown }>("tool.call", ({ name, arguments: input }, context) => {
			const tool = byName.get(name);
			if (tool === undefined) throw new PluginFailure("not_found", `this plugin has no tool ${JSON.stringify(name)}`);
			return tool.call(input, context);
		});
	}
	if (providers.length > 0) {
		add<Parameters<Provider["chat"]>[0]>("provider.chat", async (input, context) =>
			(await providerFor(providers, input.model, context)).chat(input, context),
		);
		add("provider.models", async (_input, context) => {
			const lists = await Promise.all(providers.map((provider) => modelsOf(provider, context)));
			return { models: lists.flat() };
		});
	}
	if (memory !== undefined) {
		add("memory.store", memory.store);
		add("memory.recall", memory.recall);
		add("memory.get", memory.get);
		add("memory.list", memory.list);
		add("memory.forget", memory.forget);
		add("memory.count", memory.count);
		add("memory.health", memory.health ?? (() => ({ ok: true })));
	}
	const [target] = stateTargets;
	if (target !== undefined)
		add<Parameters<StateTarget["publish"]>[0]>("state.publish", async (input, context) => {
			await target.publish(input, context);
			return {};
		});
	if (handlers.size === 0) throw new TypeError("a plugin needs at least one part");
	return handlers;
}

async function providerFor(providers: readonly Provider[], model: string, context: Context): Promise<Provider> {
	const [first, ...others] = providers;
	if (first !== undefined && others.length === 0) return first;
	for (const provider of providers)
		if ((await modelsOf(provider, context)).some(({ id }) => id === model)) return provider;
	throw new PluginFailure("not_found", `no provider of this plugin has the model ${JSON.stringify(model)}`);
}

async function modelsOf({ models }: Provider, context: Context) {
	return typeof models === "function" ? models({}, context) : models;
}

function refuseTwice(what: string, parts: readonly { readonly name: string }[]): void {
	const names = parts.map(({ name }) => name);
	const twice = names.find((name, index) => names.indexOf(name) !== index);
	if (twice !== undefined) throw new TypeError(`the ${what} ${JSON.stringify(twice)} is defined twice`);
}
