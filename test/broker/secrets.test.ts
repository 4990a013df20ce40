import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSecretStore } from "../../src/broker/index.js";
import { isHostError, reportOf } from "../../src/errors.js";
import { aFolder } from "./builders.js";

const canary = "canary-0a9f8e7d6c5b";

function failure(action: () => unknown): { code: string; text: string } {
	try {
		action();
		return { code: "none", text: "" };
	} catch (error) {
		return {
			code: isHostError(error) ? error.code : "other",
			text: `${JSON.stringify(reportOf(error))}${(error as Error).stack}`,
		};
	}
}

describe("secrets", () => {
	it("come from the sources in their order, and an empty variable is none", () => {
		const folder = aFolder();
		const file = join(folder, ".env");
		writeFileSync(file, "A=from-the-file\nB='quoted value 1'\n", { mode: 0o600 });
		const storePath = join(folder, "secrets.json");
		const store = createSecretStore({ env: { A: "from-the-env", C: "", PATH: "/bin" }, file, storePath });
		store.set("B", "from-the-store");
		store.set("C", "from-the-store");
		expect([store.value("A"), store.value("B"), store.value("C")]).toEqual([
			"from-the-env",
			"quoted value 1",
			"from-the-store",
		]);
		expect(store.sourceOf("C")).toBe("store");
		expect(store.has("toString")).toBe(false);
		expect(store.names()).toEqual(["A", "B", "C"]);
		const other = createSecretStore({ from: ["store"], env: { A: "from-the-env" }, file, storePath });
		expect(other.has("A")).toBe(false);
	});

	it("are stored for the owner alone, and another process's change counts at once", () => {
		const storePath = join(aFolder(), "secrets.json");
		const first = createSecretStore({ env: {}, storePath });
		const second = createSecretStore({ env: {}, storePath });
		first.set("KEY", canary);
		expect(statSync(storePath).mode & 0o777).toBe(0o600);
		expect(second.value("KEY")).toBe(canary);
		expect(second.redactor().text(`x${canary}`)).toBe("x[redacted]");
		expect(second.remove("KEY")).toBe(true);
		expect(second.remove("KEY")).toBe(false);
		expect(first.has("KEY")).toBe(false);
	});

	it.each([0o640, 0o604])("are not read from a file of mode %o", (mode) => {
		const folder = aFolder();
		const file = join(folder, ".env");
		writeFileSync(file, `A=${canary}\n`);
		chmodSync(file, mode);
		const found = failure(() => createSecretStore({ env: {}, file, storePath: join(folder, "secrets.json") }));
		expect(found.code).toBe("private_file.exposed");
		expect(found.text).not.toContain(canary);
	});

	it("are never in an error about their own file, which is left as it is", () => {
		const storePath = join(aFolder(), "secrets.json");
		const text = `{"version":1,"secrets":{"A":"${canary}","A":"${canary}"},"${canary}":1`;
		writeFileSync(storePath, text, { mode: 0o600 });
		const found = failure(() => createSecretStore({ env: {}, storePath }));
		expect(found.code).toBe("secrets.invalid");
		expect(found.text).not.toContain(canary);
		expect(readFileSync(storePath, "utf8")).toBe(text);
	});

	it.each(["0a9f8e7", "line\nbreak-in-it", "ünïcode→beyond latin", " leading space", ""])(
		"refuse a value that could not be sent or kept back, without showing it: %j",
		(value) => {
			const store = createSecretStore({ env: {}, storePath: join(aFolder(), "secrets.json") });
			const found = failure(() => store.set("KEY", value));
			expect(found.code).toBe("secret.value_refused");
			if (value !== "") expect(found.text).not.toContain(value);
		},
	);

	it.each(["A-B", "1A", "__proto__", ""])("refuse the name %j", (name) => {
		const store = createSecretStore({ env: {}, storePath: join(aFolder(), "secrets.json") });
		expect(failure(() => store.set(name, canary)).code).toBe("secret.name_invalid");
	});
});
