import { z } from "zod";
import { Failure } from "./failure.js";
import { JsonObject } from "./json.js";
import { SecretName } from "./names.js";

const Body = z.union([z.strictObject({ text: z.string() }), z.strictObject({ base64: z.base64() })]);
const Level = z.enum(["debug", "info", "warn", "error"]);

/** Bytes as base64: how many at most one `random` call gives. */
export const maxRandomBytes = 4096;

/** `host.log`: bounded; a message past the bound is cut. */
export const LogArguments = z.strictObject({ level: Level, message: z.string(), fields: JsonObject.optional() });
export const NowArguments = z.strictObject({});
export const RandomArguments = z.strictObject({ bytes: z.number().int().min(0).max(maxRandomBytes) });
/** `host.http`: needs `permissions.http`. Redirects are followed by the host, each hop checked again. */
export const HttpArguments = z.strictObject({
	method: z.string().regex(/^[A-Z]{1,16}$/),
	url: z.string().max(8192),
	headers: z
		.array(z.tuple([z.string(), z.string()]))
		.max(100)
		.optional(),
	body: Body.optional(),
	/** Milliseconds for the whole exchange, the reading of a stream included. */
	timeoutMs: z.number().int().positive().optional(),
	/** Answer as soon as the headers are there; the body is then read with `http_read`. */
	stream: z.boolean().optional(),
});
/** `host.http_read`: the next piece of a body that `http` opened with `stream`. Comes with the grant of `http`. */
export const HttpReadArguments = z.strictObject({
	/** As `http` named it. */
	stream: z.string().min(1).max(64),
	/** Read no further and let the connection go. */
	cancel: z.boolean().optional(),
});
/**
 * `host.emit`: a piece of an answer on its way, from `provider.chat`. The pieces are for whoever watches; what counts
 * is the answer at the end.
 */
export const EmitArguments = z.discriminatedUnion("type", [
	z.strictObject({ type: z.literal("delta"), text: z.string() }),
	z.strictObject({ type: z.literal("reasoning"), text: z.string() }),
	z.strictObject({
		type: z.literal("tool-call"),
		id: z.string().min(1).max(256),
		name: z.string().max(256),
		argumentsText: z.string(),
	}),
]);
export type EmitEvent = z.infer<typeof EmitArguments>;
/** `host.secret`: a placeholder that becomes the value at egress, for the declared use only. */
export const SecretArguments = z.strictObject({ name: SecretName });
/** Keys that one `list` of `host.kv` gives at most. */
export const maxListedKeys = 1000;
/**
 * `host.kv`: the bundle's own space, per agent. `ifVersion: 0` means "only when absent". `after`: a list goes on behind
 * this key; `more` in the answer says that there are keys behind the last.
 */
export const KvArguments = z.strictObject({
	op: z.enum(["get", "set", "delete", "list"]),
	key: z.string().min(1).max(512).optional(),
	value: z.json().optional(),
	prefix: z.string().max(512).optional(),
	after: z.string().max(512).optional(),
	ifVersion: z.number().int().nonnegative().optional(),
});

export const HttpValue = z.strictObject({
	status: z.number().int(),
	headers: z.array(z.tuple([z.string(), z.string()])),
	body: Body,
	/** With `stream`: the body is empty, and is read under this name. */
	stream: z.string().optional(),
});
export const HttpReadValue = z.strictObject({
	/** Whole characters where the body is text: one that is cut between two pieces waits for the second. */
	body: Body,
	/** True with the last piece; the stream is closed then. */
	done: z.boolean(),
});
export const KvValue = z.strictObject({
	value: z.json().optional(),
	version: z.number().int().nonnegative().optional(),
	keys: z.array(z.string()).optional(),
	more: z.boolean().optional(),
});

/** Every host function this version links, with the schemas of its arguments and value. */
export const hostFunctions = {
	log: { arguments: LogArguments, value: z.strictObject({}) },
	now: { arguments: NowArguments, value: z.strictObject({ ms: z.number() }) },
	random: { arguments: RandomArguments, value: z.strictObject({ base64: z.base64() }) },
	http: { arguments: HttpArguments, value: HttpValue },
	http_read: { arguments: HttpReadArguments, value: HttpReadValue },
	secret: { arguments: SecretArguments, value: z.strictObject({ placeholder: z.string() }) },
	kv: { arguments: KvArguments, value: KvValue },
	emit: { arguments: EmitArguments, value: z.strictObject({}) },
} as const;

/** The name of a host function. */
export type HostFunction = keyof typeof hostFunctions;
export type HostArguments<F extends HostFunction> = z.infer<(typeof hostFunctions)[F]["arguments"]>;
export type HostValue<F extends HostFunction> = z.infer<(typeof hostFunctions)[F]["value"]>;

/** Linked for every plugin, without a grant. */
export const ungatedHostFunctions: readonly HostFunction[] = ["log", "now", "random"];

/** What a host function answers with. */
export const HostResult = z.discriminatedUnion("ok", [
	z.strictObject({ ok: z.literal(true), value: z.unknown() }),
	z.strictObject({
		ok: z.literal(false),
		failure: Failure,
		/** The permission that was missing, as `mortise grant` takes it. */
		permission: z.string().optional(),
	}),
]);
export type HostResult = z.infer<typeof HostResult>;

/**
 * The `host` argument of an ESM plugin's `handle`. A member that was not granted is absent.
 * Each call rejects with an error carrying `code` (a failure code) when the host refuses it.
 */
export type Host = {
	readonly log: (args: HostArguments<"log">) => Promise<HostValue<"log">>;
	readonly now: (args?: HostArguments<"now">) => Promise<HostValue<"now">>;
	readonly random: (args: HostArguments<"random">) => Promise<HostValue<"random">>;
	readonly http?: (args: HostArguments<"http">) => Promise<HostValue<"http">>;
	readonly http_read?: (args: HostArguments<"http_read">) => Promise<HostValue<"http_read">>;
	readonly secret?: (args: HostArguments<"secret">) => Promise<HostValue<"secret">>;
	readonly kv?: (args: HostArguments<"kv">) => Promise<HostValue<"kv">>;
	/** There while somebody watches the answer of `provider.chat` grow. */
	readonly emit?: (event: HostArguments<"emit">) => Promise<HostValue<"emit">>;
};
