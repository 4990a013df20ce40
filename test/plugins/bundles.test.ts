import { conformance, conformanceKinds, createTestHost, type TestHostOptions } from "@mortise/sdk/testing";
import { describe, expect, it } from "vitest";
import { bundleFile, bundleIds, manifestOf, openBundle } from "./open.js";

const page = { status: 200, headers: { "content-type": "text/plain" }, text: "hello" };
const reply = { choices: [{ message: { content: "Hello." }, finish_reason: "stop" }], usage: { prompt_tokens: 1 } };

/** What the suite needs beside the manifest, by bundle: the host's answers, and good arguments. */
const settings: Readonly<
	Record<string, { host: TestHostOptions; samples?: { [tool: string]: { [name: string]: string } } }>
> = {
	"http-fetch": { host: { http: () => page }, samples: { http_get: { url: "https://example.test/" } } },
	"kv-notes": { host: { kv: true } },
	"openai-compatible": {
		host: {
			http: ({ url }) => ({ json: url.endsWith("/models") ? { data: [{ id: "m" }] } : reply }),
			secrets: ["OPENAI_API_KEY"],
		},
	},
};

describe.each(bundleIds())("the bundle %s", (id) => {
	it("has a manifest that the contract's schema accepts, under the name of its folder", () => {
		expect(manifestOf(id).id).toBe(id);
	});

	it("has a README with an example", () => {
		expect(bundleFile(id, "README.md").toString()).toMatch(/^# .+[\s\S]+```/);
	});

	const manifest = manifestOf(id);
	for (const kind of conformanceKinds(manifest))
		describe(`keeps the contract's promises for a ${kind}`, () => {
			const { host = {}, samples } = settings[id] ?? {};
			for (const { id: promise, title, skip, run } of conformance(kind, manifest, {
				model: "m",
				...(samples === undefined ? {} : { samples }),
			}))
				it(`${promise}: ${title}${skip === undefined ? "" : ` (skipped: ${skip})`}`, async ({ skip: leave }) => {
					if (skip !== undefined) leave(skip);
					await run(await openBundle(id, createTestHost(host).host));
				});
		});
});
