import { randomUUID } from "node:crypto";
import { access, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { VerifiedBundle } from "../contract/index.js";
import { HostError, isHostError } from "../errors.js";
import { asideFor, discoverBundles } from "./discover.js";
import type { CompileSchema } from "./manifest-rules.js";
import { readBundle } from "./read-bundle.js";
import { type Receipt, readReceipts, receiptOf, updateReceipt } from "./receipts.js";
import { refusedError } from "./refused-error.js";

/** What an installation does, in order; a test may stop before each. */
export const installSteps = ["write", "sync", "announce", "set-aside", "put-in-place", "receipt", "clean"] as const;
export type InstallStep = (typeof installSteps)[number];

/** What another installation wrote is taken for left behind after this. */
const leftoverMs = 60 * 60 * 1000;

export type InstallOptions = {
	/** A bundle folder or a `.tgz`. */
	readonly source: string;
	readonly home: string;
	readonly drop: string;
	/** Replaces an installed bundle whose content is another. */
	readonly force?: boolean;
	/** Ids that are taken by bundles elsewhere. */
	readonly takenIds?: ReadonlySet<string>;
	readonly compile?: CompileSchema;
	readonly now?: () => Date;
	readonly signal?: AbortSignal;
	/** Called before each step. May throw or reject, which ends the installation there. */
	readonly onStep?: (step: InstallStep) => void | Promise<void>;
};
export type Installed = {
	readonly bundle: VerifiedBundle;
	readonly path: string;
	/** `unchanged`: this very content was installed already. */
	readonly outcome: "installed" | "replaced" | "unchanged";
};

/**
 * Verifies a bundle and puts it into the drop folder as a folder named for its id. Written aside and renamed when whole:
 * however it is cut off, a later load finds the old version or the new one, never half of one and never neither.
 * Throws `bundle.refused` (with all problems), `plugin.first_party_id` for a taken id, `bundle.already_installed` (other content and no `force`),
 * `bundle.duplicate_id` (the id stands elsewhere in the drop folder), `bundle.drop_folder_unsafe`, `bundle.write_failed`,
 * `receipts.invalid`.
 */
export async function installBundle(options: InstallOptions): Promise<Installed> {
	const { source, home, drop, force = false, now = () => new Date(), signal } = options;
	const read = await readBundle(source, pick(options));
	if (!read.ok) {
		throw refusedError(read.refused);
	}
	const { bundle } = read;
	const { id, version } = bundle.manifest;
	if (options.takenIds?.has(id)) throw new HostError("plugin.first_party_id", { id });
	const path = join(drop, id);
	const receipt = receiptOf(await readReceipts(home), id);
	await mkdir(drop, { recursive: true, mode: 0o700 }).catch(writeFailed(drop));
	await returnSetAside(drop, id, receipt);
	const before = await findInstalled(options, id, path);
	const isReceipted = receipt?.digest === bundle.digest && receipt.next === undefined;
	if (before?.digest === bundle.digest && isReceipted)
		return { bundle: { ...bundle, path }, path, outcome: "unchanged" };
	if (before !== undefined && before.digest !== bundle.digest && !force)
		throw new HostError("bundle.already_installed", { id, version: before.version ?? "unknown" });

	const step = async (name: InstallStep): Promise<void> => {
		signal?.throwIfAborted();
		await options.onStep?.(name);
	};
	const unique = randomUUID();
	const staging = join(drop, `.staging-${unique}`);
	const aside = join(drop, asideFor(id, unique));
	const finished: Receipt = {
		digest: bundle.digest,
		version,
		signer: null,
		installedAt: now().toISOString(),
		by: userInfo().username,
		source,
		enabled: receipt?.enabled ?? true,
	};
	let isAside = false;
	let isInPlace = false;
	try {
		await step("write");
		await writeFiles(staging, bundle.files);
		await step("sync");
		await syncFolders(staging, bundle.files);
		if (before !== undefined) {
			await step("announce");
			const old = before.digest ?? receipt?.digest;
			await updateReceipt(home, id, (kept) => ({
				signer: null,
				enabled: true,
				...kept,
				...(old === undefined ? {} : { digest: old }),
				next: bundle.digest,
			}));
			await step("set-aside");
			await rename(path, aside);
			isAside = true;
		}
		await step("put-in-place");
		await rename(staging, path);
		isInPlace = true;
		await syncFolder(drop);
		await step("receipt");
		await updateReceipt(home, id, (kept) => ({ ...finished, enabled: kept?.enabled ?? true }));
		await step("clean");
	} catch (error) {
		if (isAside && !isInPlace) await rename(aside, path);
		throw isHostError(error) || signal?.aborted ? error : failure(drop, error);
	} finally {
		// what stays behind is ignored by every load and cleared by the next installation of this id
		await rm(staging, { recursive: true, force: true }).catch(() => undefined);
		if (isInPlace) await rm(aside, { recursive: true, force: true }).catch(() => undefined);
	}
	return { bundle: { ...bundle, path }, path, outcome: before === undefined ? "installed" : "replaced" };
}

/**
 * Takes a bundle out of the drop folder, with its receipt; one that is there refused or disabled too. Gives the path it
 * stood at, none when only a receipt was left. Throws `bundle.not_installed`, `bundle.duplicate_id`, `bundle.write_failed`.
 */
export async function removeBundle(options: {
	readonly id: string;
	readonly home: string;
	readonly drop: string;
	readonly signal?: AbortSignal;
}): Promise<{ readonly path?: string }> {
	const { id, home, drop } = options;
	const receipt = receiptOf(await readReceipts(home), id);
	const found = await findById(options, id);
	const own = join(drop, id);
	if (found.length === 0 && (await exists(own))) found.push({ path: own });
	if (found.length > 1) throw new HostError("bundle.duplicate_id", { id, paths: found.map((each) => each.path) });
	const path = found[0]?.path;
	if (path === undefined && receipt === undefined) throw new HostError("bundle.not_installed", { id, drop });
	const gone = join(drop, `.removed-${randomUUID()}`);
	if (path !== undefined) await rename(path, gone).catch(writeFailed(drop));
	await updateReceipt(home, id, () => undefined);
	await rm(gone, { recursive: true, force: true }).catch(writeFailed(gone));
	return path === undefined ? {} : { path };
}

type Found = { path: string; digest?: string; version?: string };

/** What stands at the place of an id, whole or not. An id that stands elsewhere refuses the installation. */
async function findInstalled(options: InstallOptions, id: string, path: string): Promise<Found | undefined> {
	const found = await findById(options, id);
	const elsewhere = found.filter((each) => each.path !== path);
	if (elsewhere.length > 0)
		throw new HostError("bundle.duplicate_id", { id, paths: [...elsewhere.map((each) => each.path), path] });
	if (found[0] !== undefined) return found[0];
	return (await exists(path)) ? { path } : undefined;
}

async function findById(
	options: { readonly drop: string; readonly signal?: AbortSignal; readonly compile?: CompileSchema },
	id: string,
): Promise<Found[]> {
	const { bundles, refused } = await discoverBundles({ drop: options.drop, ...pick(options) });
	const unsafe = refused.find((each) => each.path === options.drop)?.problems;
	if (unsafe?.[0] !== undefined)
		throw new HostError("bundle.refused", { path: options.drop, count: unsafe.length }, { problems: unsafe });
	return [
		...bundles.map((each) => ({
			path: each.path,
			digest: each.digest,
			version: each.manifest.version,
			id: each.manifest.id,
		})),
		...refused,
	].filter((each) => each.id === id);
}

function pick(options: { readonly signal?: AbortSignal; readonly compile?: CompileSchema }) {
	const { signal, compile } = options;
	return { ...(signal === undefined ? {} : { signal }), ...(compile === undefined ? {} : { compile }) };
}

/** After an installation that was cut off between its two renames: puts the old version back. Then clears what others left. */
async function returnSetAside(drop: string, id: string, receipt: Receipt | undefined): Promise<void> {
	const path = join(drop, id);
	for (const name of await readdir(drop)) {
		const left = join(drop, name);
		if (name.startsWith(asideFor(id, ""))) {
			if (receipt?.next !== undefined && !(await exists(path))) await rename(left, path).catch(writeFailed(drop));
			else await rm(left, { recursive: true, force: true });
		} else if (/^\.(staging|removed)-/.test(name)) {
			const state = await stat(left).catch(() => undefined);
			if (state !== undefined && Date.now() - state.mtimeMs > leftoverMs)
				await rm(left, { recursive: true, force: true });
		}
	}
}

async function writeFiles(staging: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
	await mkdir(staging, { mode: 0o755 });
	for (const [path, content] of files) {
		const target = join(staging, path);
		await mkdir(dirname(target), { recursive: true, mode: 0o755 });
		const handle = await open(target, "wx", 0o644);
		try {
			await handle.writeFile(content);
			await handle.sync();
		} finally {
			await handle.close();
		}
	}
}

async function syncFolders(staging: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
	const folders = new Set([staging]);
	for (const path of files.keys())
		for (let folder = dirname(join(staging, path)); folder.length > staging.length; folder = dirname(folder))
			folders.add(folder);
	for (const folder of folders) await syncFolder(folder);
}

async function syncFolder(folder: string): Promise<void> {
	const handle = await open(folder, "r");
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

function failure(path: string, cause: unknown): HostError {
	const { code, message } = cause as NodeJS.ErrnoException;
	return new HostError("bundle.write_failed", { path, detail: code ?? message }, { cause });
}

function writeFailed(path: string): (cause: unknown) => never {
	return (cause) => {
		throw failure(path, cause);
	};
}

function exists(path: string): Promise<boolean> {
	return access(path).then(
		() => true,
		() => false,
	);
}
