import { type Model, PluginFailure } from "@mortise/sdk";
import type { Connection } from "./connection.js";
import { countOf, listOf, memberOf, stringOf } from "./value.js";

/**
 * The server's models by `GET models`. The listing does not say what a model can do, so no features are claimed. A
 * server without a listing has the models that the settings name.
 */
export async function modelsFrom(server: Connection, fallback: readonly string[]): Promise<readonly Model[]> {
	let listed: unknown;
	try {
		listed = await server.ask("GET", "models");
	} catch (error) {
		const unlisted = error instanceof PluginFailure && (error.code === "not_found" || error.code === "unsupported");
		if (!unlisted || fallback.length === 0) throw error;
		return fallback.map((id) => ({ id, features: [] }));
	}
	return listOf(memberOf(listed, "data")).flatMap((entry) => {
		const id = stringOf(memberOf(entry, "id"));
		if (id === undefined) return [];
		const window = countOf(memberOf(entry, "context_length")) || countOf(memberOf(entry, "max_model_len"));
		return [{ id, features: [], ...(window === 0 ? {} : { contextTokens: window }) }];
	});
}
