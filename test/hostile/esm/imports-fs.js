// Imports a module of Node.
import { readFileSync } from "node:fs";

export default {
	async handle() {
		return readFileSync("/etc/passwd", "utf8");
	},
};
