import { type Context, type HostValue, type JsonValue, PluginFailure } from "@mortise/sdk";
import { failureFrom } from "./server-failure.js";

const secret = "OPENAI_API_KEY";
const defaultBase = "https://api.openai.com/v1";

/** One server, with its key when there is one. */
export type Connection = {
	/** Sends one request and gives back the JSON of the answer; anything else than success ends in a `PluginFailure`. */
	readonly ask: (method: "GET" | "POST", path: string, body?: JsonValue) => Promise<unknown>;
};

/** Connects to the server that the settings name. Without a granted and stored key the requests go without one. */
export async function connect(context: Context): Promise<Connection> {
	const { host, config } = context;
	const { http } = host;
	if (http === undefined) throw new PluginFailure("unauthorized", "http is not granted to this plugin");
	const base = (typeof config.base_url === "string" ? config.base_url : defaultBase).replace(/\/+$/, "");
	const key = await keyOf(context);
	const headers: [string, string][] = [["accept", "application/json"]];
	if (key !== undefined) headers.push(["authorization", `Bearer ${key}`]);

	return {
		async ask(method, path, body) {
			const response = await http({
				method,
				url: `${base}/${path}`,
				headers: body === undefined ? headers : [...headers, ["content-type", "application/json"]],
				...(body === undefined ? {} : { body: { text: JSON.stringify(body) } }),
				...(typeof config.timeout_ms === "number" ? { timeoutMs: config.timeout_ms } : {}),
			});
			const { ms } = await host.now();
			const value = jsonOf(response);
			const keyHint = key === undefined ? `no key was sent; to store one: mortise secret set ${secret}` : undefined;
			const failure = failureFrom(response, value, { nowMs: ms, ...(keyHint === undefined ? {} : { keyHint }) });
			if (failure !== undefined) throw failure;
			if (value === undefined)
				throw new PluginFailure("unavailable", `the server answered ${response.status} with a body that is not JSON`);
			return value;
		},
	};
}

async function keyOf({ host }: Context): Promise<string | undefined> {
	if (host.secret === undefined) return undefined;
	try {
		return (await host.secret({ name: secret })).placeholder;
	} catch (error) {
		const code = (error as { readonly code?: unknown }).code;
		// not stored, or not granted: a server on this machine needs none
		if (code === "not_found" || code === "unauthorized") return undefined;
		throw error;
	}
}

function jsonOf({ body }: HostValue<"http">): unknown {
	try {
		return JSON.parse("text" in body ? body.text : new TextDecoder().decode(bytesOf(body.base64)));
	} catch {
		return undefined;
	}
}

function bytesOf(base64: string): Uint8Array {
	return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}
