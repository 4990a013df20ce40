import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { loadConfig, readEnvironment } from "../src/config.js";

describe("the environment", () => {
	it("gives the home folder and the level of the log", async () => {
		const environment = readEnvironment({ MORTISE_HOME: "kept", MORTISE_LOG: "debug", OTHER: "x" });
		expect(environment).toMatchObject({ homeFolder: "kept", logLevel: "debug", variables: { OTHER: "x" } });
		const cwd = resolve("/nowhere");
		expect((await loadConfig({ cwd }, environment)).home).toBe(resolve(cwd, "kept"));
		expect((await loadConfig({ cwd, home: "given" }, environment)).home).toBe(resolve(cwd, "given"));
	});

	it("counts an empty variable as one that is not set, so the working folder never becomes a home by it", async () => {
		const environment = readEnvironment({ MORTISE_HOME: "", MORTISE_LOG: "" });
		expect([environment.homeFolder, environment.logLevel]).toEqual([undefined, "warn"]);
		const cwd = resolve("/nowhere");
		expect((await loadConfig({ cwd }, environment)).home).not.toBe(cwd);
	});
});
