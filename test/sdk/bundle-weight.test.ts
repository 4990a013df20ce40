import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { bundleFile, bundleIds, manifestOf } from "../plugins/open.js";

async function bundle(source: string): Promise<string> {
	const { outputFiles } = await build({
		stdin: { contents: source, resolveDir: import.meta.dirname, loader: "ts" },
		bundle: true,
		write: false,
		format: "esm",
		platform: "neutral",
		mainFields: ["module", "main"],
		conditions: ["import"],
		logLevel: "silent",
	});
	return outputFiles[0]?.text ?? "";
}

describe("what the sdk adds to a plugin", () => {
	it("is small, without zod, which would cost tens of milliseconds in every fresh instance", async () => {
		const source = await bundle(
			'import { definePlugin, defineTool } from "@mortise/sdk"; export default definePlugin({ tools: [defineTool({ name: "t", run: () => "" })] });',
		);
		expect(source).not.toContain("ZodError");
		expect(source.length).toBeLessThan(24_000);
	});

	it("is only what is used", async () => {
		const source = await bundle('import { text } from "@mortise/sdk"; export default text("a");');
		expect(source.length).toBeLessThan(500);
	});

	it.each(bundleIds().filter((id) => manifestOf(id).runtime === "esm"))("leaves no import and no zod in %s", (id) => {
		const source = bundleFile(id, "plugin.js").toString();
		expect(source).not.toMatch(/^\s*import\b|\bimport\(|\brequire\(/m);
		expect(source).not.toContain("ZodError");
		expect(source.length).toBeLessThan(64_000);
	});
});
