import { definePlugin, defineProvider } from "@mortise/sdk";
import { piecesOf } from "./pieces.js";
import { reply } from "./reply.js";

export default definePlugin({
	providers: [
		defineProvider({
			name: "offline",
			models: [{ id: "offline-1", features: ["tools", "streaming"] }],
			chat: (input, { host }) => {
				const output = reply(input);
				const { emit } = host;
				if (emit !== undefined) for (const event of piecesOf(output)) emit(event).catch(() => {});
				return output;
			},
		}),
	],
});
