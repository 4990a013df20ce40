import { definePlugin, defineProvider } from "@mortise/sdk";
import { reply } from "./reply.js";

export default definePlugin({
	providers: [
		defineProvider({
			name: "offline",
			models: [{ id: "offline-1", features: ["tools"] }],
			chat: reply,
		}),
	],
});
