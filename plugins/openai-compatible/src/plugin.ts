import { definePlugin, defineProvider, PluginFailure } from "@mortise/sdk";
import { connect } from "./connection.js";
import { modelsFrom } from "./models.js";
import { bodyFor } from "./to-wire.js";

export default definePlugin({
	providers: [
		defineProvider({
			name: "openai-compatible",

			async chat(input, context) {
				const { config } = context;
				const model = input.model === "" ? config.model : input.model;
				if (typeof model !== "string")
					throw new PluginFailure("invalid_input", "no model is named, neither by the agent nor in the settings");
				const body = bodyFor({ ...input, model }, config.max_tokens_field === "max_completion_tokens");
				const server = await connect(context);
				const { emit } = context.host;
				if (emit === undefined || config.stream === false) return server.chat(body);
				return server.streamedChat(body, (event) => {
					// a watcher that has had enough is no reason to end the answer
					emit(event).catch(() => {});
				});
			},

			async models(_input, context) {
				const server = await connect(context);
				const fallback = typeof context.config.model === "string" ? [context.config.model] : [];
				return modelsFrom(server, fallback);
			},
		}),
	],
});
