import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
	discoverBundles,
	type InstallStep,
	installBundle,
	installSteps,
	readReceipts,
	removeBundle,
	setBundleEnabled,
} from "../../src/bundle/index.js";
import { aBundle, type Files, writeFiles } from "../fixtures/bundle/corpus.js";
import { tarball } from "../fixtures/bundle/tarball.js";
import { temporaryFolder } from "./temporary.js";

type Place = { readonly home: string; readonly drop: string };

async function aHome(): Promise<Place> {
	const home = await temporaryFolder();
	return { home, drop: join(home, "bundles") };
}
async function aSource(id: string, version = "1.0.0"): Promise<string> {
	const files: Files = aBundle(id);
	const manifest = String(files["plugin.yaml"]).replace("version: 1.0.0", `version: ${version}`);
	return writeFiles(await temporaryFolder(), { ...files, "plugin.yaml": manifest });
}
/** What a load finds now: id@version, or the code it is refused with. */
async function loaded({ home, drop }: Place): Promise<string[]> {
	const found = await discoverBundles({ drop, receipts: await readReceipts(home) });
	return [
		...found.bundles.map(({ manifest }) => `${manifest.id}@${manifest.version}`),
		...found.refused.flatMap((each) => each.problems.map((problem) => problem.code)),
	];
}

describe("installBundle", () => {
	it("installs a folder and an archive, with a receipt that only its owner can read", async () => {
		const place = await aHome();
		const source = await aSource("a.a");
		const now = () => new Date("2030-01-02T03:04:05Z");
		const installed = await installBundle({ source, ...place, now });
		expect(installed).toMatchObject({ outcome: "installed", path: join(place.drop, "a.a") });
		const archive = join(await temporaryFolder(), "b.tgz");
		await writeFile(archive, tarball(Object.entries(aBundle("b.b")).map(([path, content]) => ({ path, content }))));
		await installBundle({ source: archive, ...place });
		expect(await loaded(place)).toEqual(["a.a@1.0.0", "b.b@1.0.0"]);
		expect((await readReceipts(place.home))["a.a"]).toMatchObject({
			digest: installed.bundle.digest,
			version: "1.0.0",
			signer: null,
			installedAt: "2030-01-02T03:04:05.000Z",
			source,
			enabled: true,
		});
		expect((await stat(join(place.home, "receipts.json"))).mode & 0o777).toBe(0o600);
		expect((await readdir(place.drop)).sort()).toEqual(["a.a", "b.b"]);
	});

	it("changes nothing for the same content, refuses other content without force, replaces with it", async () => {
		const place = await aHome();
		await installBundle({ source: await aSource("a.a"), ...place });
		const receipts = await readFile(join(place.home, "receipts.json"), "utf8");
		expect((await installBundle({ source: await aSource("a.a"), ...place })).outcome).toBe("unchanged");
		expect(await readFile(join(place.home, "receipts.json"), "utf8")).toBe(receipts);
		const source = await aSource("a.a", "2.0.0");
		await expect(installBundle({ source, ...place })).rejects.toMatchObject({ code: "bundle.already_installed" });
		expect(await loaded(place)).toEqual(["a.a@1.0.0"]);
		expect((await installBundle({ source, ...place, force: true })).outcome).toBe("replaced");
		expect(await loaded(place)).toEqual(["a.a@2.0.0"]);
		expect(await readdir(place.drop)).toEqual(["a.a"]);
	});

	it("keeps a disabled bundle disabled when it is replaced", async () => {
		const place = await aHome();
		await installBundle({ source: await aSource("a.a"), ...place });
		await setBundleEnabled({ home: place.home, id: "a.a", enabled: false });
		await installBundle({ source: await aSource("a.a", "2.0.0"), ...place, force: true });
		expect((await readReceipts(place.home))["a.a"]).toMatchObject({ version: "2.0.0", enabled: false });
	});

	it("refuses a broken bundle with all its problems and writes nothing", async () => {
		const place = await aHome();
		const source = await writeFiles(await temporaryFolder(), { "plugin.yaml": "contract: 2\nodd: 1\n" });
		const error = await installBundle({ source, ...place }).catch((thrown: unknown) => thrown);
		expect(error).toMatchObject({ code: "bundle.refused" });
		expect((error as { problems: unknown[] }).problems.length).toBeGreaterThan(3);
		await expect(readdir(place.drop)).rejects.toThrow();
	});

	it("refuses an id that stands elsewhere in the drop folder, and a drop folder that is not safe", async () => {
		const place = await aHome();
		await writeFiles(join(place.drop, "other-name"), aBundle("a.a"));
		const source = await aSource("a.a");
		await expect(installBundle({ source, ...place })).rejects.toMatchObject({ code: "bundle.duplicate_id" });
		expect(await loaded(place)).toEqual(["a.a@1.0.0"]);
		await chmod(place.drop, 0o777);
		await expect(installBundle({ source, ...place })).rejects.toMatchObject({
			code: "bundle.refused",
			problems: [{ code: "bundle.drop_folder_unsafe" }],
		});
	});

	it("takes the place of a broken or half-written folder of the same id", async () => {
		const place = await aHome();
		await writeFiles(join(place.drop, "a.a"), { "plugin.js": "half" });
		await expect(installBundle({ source: await aSource("a.a"), ...place })).rejects.toMatchObject({
			code: "bundle.already_installed",
		});
		await installBundle({ source: await aSource("a.a"), ...place, force: true });
		expect(await loaded(place)).toEqual(["a.a@1.0.0"]);
	});

	const first: readonly InstallStep[] = ["write", "sync", "put-in-place", "receipt", "clean"];
	const isNew = (step: InstallStep): boolean => step === "receipt" || step === "clean";

	it.each(installSteps)(
		"cut off before %s: a load finds the old version or the new one, and a second try succeeds",
		async (at) => {
			const place = await aHome();
			await installBundle({ source: await aSource("a.a"), ...place });
			await cutOff(at, { source: await aSource("a.a", "2.0.0"), ...place, force: true });
			expect(await loaded(place)).toEqual([isNew(at) ? "a.a@2.0.0" : "a.a@1.0.0"]);
			await installBundle({ source: await aSource("a.a", "3.0.0"), ...place, force: true });
			expect(await loaded(place)).toEqual(["a.a@3.0.0"]);
			expect((await readdir(place.drop)).filter((name) => name.startsWith(".replaced"))).toEqual([]);
		},
	);

	it.each(first)("cut off before %s of a first installation: nothing or the whole bundle is there", async (at) => {
		const place = await aHome();
		await cutOff(at, { source: await aSource("a.a"), ...place });
		expect(await loaded(place)).toEqual(isNew(at) ? ["a.a@1.0.0"] : []);
	});

	it.each(installSteps)("failing before %s it undoes what it did, or has done all of it", async (at) => {
		const place = await aHome();
		await installBundle({ source: await aSource("a.a"), ...place });
		const onStep = (step: InstallStep): void => {
			if (step === at) throw new Error("no space");
		};
		const source = await aSource("a.a", "2.0.0");
		await expect(installBundle({ source, ...place, force: true, onStep })).rejects.toMatchObject({
			code: "bundle.write_failed",
		});
		expect(await loaded(place)).toEqual([isNew(at) ? "a.a@2.0.0" : "a.a@1.0.0"]);
		expect(await readdir(place.drop)).toEqual(["a.a"]);
	});

	/** As a killed process does: it never comes back from the step, so nothing is tidied up. */
	async function cutOff(at: InstallStep, options: Parameters<typeof installBundle>[0]): Promise<void> {
		await new Promise<void>((resolve, reject) => {
			const onStep = (step: InstallStep): Promise<void> | void => {
				if (step !== at) return;
				resolve();
				return new Promise<void>(() => {});
			};
			installBundle({ ...options, onStep }).then(() => reject(new Error("it was not cut off")), reject);
		});
	}
});

describe("removeBundle", () => {
	it("takes the folder and the receipt away, also of a disabled bundle and of an archive dropped in", async () => {
		const place = await aHome();
		await installBundle({ source: await aSource("a.a"), ...place });
		await setBundleEnabled({ home: place.home, id: "a.a", enabled: false });
		await writeFile(
			join(place.drop, "b.tgz"),
			tarball(Object.entries(aBundle("b.b")).map(([path, content]) => ({ path, content }))),
		);
		expect(await removeBundle({ id: "a.a", ...place })).toEqual({ path: join(place.drop, "a.a") });
		expect(await removeBundle({ id: "b.b", ...place })).toEqual({ path: join(place.drop, "b.tgz") });
		expect(await readdir(place.drop)).toEqual([]);
		expect(await readReceipts(place.home)).toEqual({});
	});

	it("says when there is no such bundle", async () => {
		const place = await aHome();
		await expect(removeBundle({ id: "a.a", ...place })).rejects.toMatchObject({ code: "bundle.not_installed" });
	});
});

describe("receipts", () => {
	it("turns a bundle that was dropped in off and on", async () => {
		const place = await aHome();
		await writeFiles(join(place.drop, "any-name"), aBundle("a.a"));
		await setBundleEnabled({ home: place.home, id: "a.a", enabled: false });
		expect(await loaded(place)).toEqual([]);
		await setBundleEnabled({ home: place.home, id: "a.a", enabled: true });
		expect(await loaded(place)).toEqual(["a.a@1.0.0"]);
	});

	it("never overwrites a damaged file", async () => {
		const { home, drop } = await aHome();
		for (const damaged of [
			"{",
			"[]",
			'{"v":2,"bundles":{}}',
			'{"v":1,"bundles":{"__proto__":{}}}',
			'{"v":1,"bundles":{"a.a":{"enabled":1}}}',
		]) {
			await writeFile(join(home, "receipts.json"), damaged);
			await expect(readReceipts(home)).rejects.toMatchObject({ code: "receipts.invalid" });
			await expect(setBundleEnabled({ home, id: "a.a", enabled: true })).rejects.toMatchObject({
				code: "receipts.invalid",
			});
			await expect(installBundle({ source: await aSource("a.a"), home, drop })).rejects.toMatchObject({
				code: "receipts.invalid",
			});
			expect(await readFile(join(home, "receipts.json"), "utf8")).toBe(damaged);
		}
	});

	it("loses nothing when many change at once", async () => {
		const { home } = await aHome();
		const ids = Array.from({ length: 20 }, (_, index) => `a.n${index}`);
		await Promise.all(ids.map((id) => setBundleEnabled({ home, id, enabled: false })));
		expect(Object.keys(await readReceipts(home)).sort()).toEqual([...ids].sort());
	});
});
