// Imports a file above its bundle.
import secret from "../../secret.js";

export default {
	async handle() {
		return secret;
	},
};
