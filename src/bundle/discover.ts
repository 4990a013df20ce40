import { constants, type Dirent, type Stats } from "node:fs";
import { access, lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import type { BundleOrigin, Problem, RefusedBundle, VerifiedBundle } from "../contract/index.js";
import { problemOf } from "../errors.js";
import { type BundleCaps, comparePaths } from "./file-list.js";
import { mapBounded } from "./in-turns.js";
import type { CompileSchema } from "./manifest-rules.js";
import { isArchiveName, readBundle } from "./read-bundle.js";
import { type Receipt, type Receipts, receiptOf } from "./receipts.js";
import { manifestFile } from "./verify.js";

/** What stands in the folders: verified bundles by id, refusals by id and path, notes by path. */
export type Discovery = {
	readonly bundles: readonly VerifiedBundle[];
	readonly refused: readonly RefusedBundle[];
	readonly notes: readonly Problem[];
};
export type DiscoverOptions = {
	/** The drop folder; one that does not exist is empty. */
	readonly drop: string;
	/** The folder of the bundles that come with the host. */
	readonly firstParty?: string;
	/** As `readReceipts` gives them: digests of what was installed, and what is disabled. */
	readonly receipts?: Receipts;
	readonly compile?: CompileSchema;
	readonly caps?: BundleCaps;
	/** How many bundles are read at a time. */
	readonly concurrency?: number;
	readonly signal?: AbortSignal;
};

/** A version that an installation set aside, named for its id; it still counts until its successor is in place. */
const asideName = /^\.replaced-([a-z0-9.-]+)~/;
/** The name under which an installation sets the old version of an id aside. */
export function asideFor(id: string, unique: string): string {
	return `.replaced-${id}~${unique}`;
}

type Candidate = { readonly path: string; readonly origin: BundleOrigin };

/**
 * Finds and verifies every bundle of the drop folder and of the first-party folder. Nothing that is wrong with one
 * stops another; a stray file is a note. Bundles with one id are all refused (`bundle.duplicate_id`), one whose content
 * is not what was installed is `bundle.digest_mismatch`. A drop folder of another owner or writable by others is not
 * read at all (`bundle.drop_folder_unsafe`). The result does not depend on the order of the folder; the thread is never
 * held for long. Rejects only when aborted.
 */
export async function discoverBundles(options: DiscoverOptions): Promise<Discovery> {
	const { drop, firstParty, receipts = {}, compile, caps, concurrency = 4, signal } = options;
	const refused: RefusedBundle[] = [];
	const notes: Problem[] = [];
	const candidates: Candidate[] = [];
	if (firstParty !== undefined) candidates.push(...(await listFirstParty(firstParty)));
	candidates.push(...(await listDropped({ drop, receipts, refused, notes })));

	const reading = {
		...(compile === undefined ? {} : { compile }),
		...(caps === undefined ? {} : { caps }),
		...(signal === undefined ? {} : { signal }),
	};
	const verified: VerifiedBundle[] = [];
	const read = await mapBounded(candidates, concurrency, ({ path, origin }) =>
		readBundle(path, { ...reading, origin }),
	);
	for (const result of read) {
		notes.push(...result.notes);
		if (result.ok) verified.push(result.bundle);
		else refused.push(result.refused);
	}
	const bundles: VerifiedBundle[] = [];
	for (const [id, group] of groupById(verified)) {
		const admitted = admit(id, group, receiptOf(receipts, id));
		bundles.push(...admitted.bundles);
		refused.push(...admitted.refused);
	}
	return {
		bundles: bundles.sort((a, b) => comparePaths(idOf(a), idOf(b))),
		refused: refused.sort((a, b) => comparePaths(a.id ?? "", b.id ?? "") || comparePaths(a.path, b.path)),
		notes: notes.sort((a, b) => comparePaths(a.file, b.file)),
	};
}

function idOf(bundle: VerifiedBundle): string {
	return bundle.manifest.id;
}

function groupById(bundles: readonly VerifiedBundle[]): Map<string, VerifiedBundle[]> {
	const groups = new Map<string, VerifiedBundle[]>();
	for (const bundle of bundles) groups.set(idOf(bundle), [...(groups.get(idOf(bundle)) ?? []), bundle]);
	return groups;
}

function admit(
	id: string,
	group: readonly VerifiedBundle[],
	receipt: Receipt | undefined,
): { bundles: readonly VerifiedBundle[]; refused: readonly RefusedBundle[] } {
	const [bundle] = group;
	if (bundle === undefined) return { bundles: [], refused: [] };
	if (group.length > 1) {
		const paths = group.map((each) => each.path).sort(comparePaths);
		const problem = (each: VerifiedBundle): Problem =>
			problemOf("bundle.duplicate_id", { file: each.path }, { id, paths });
		return { bundles: [], refused: group.map((each) => describe(each, "refused", [problem(each)])) };
	}
	const { path, digest: actual } = bundle;
	const expected = receipt?.digest;
	if (bundle.origin === "dropped" && expected !== undefined && actual !== expected && actual !== receipt?.next) {
		const fields = { path, where: "receipts.json", actual, expected };
		return {
			bundles: [],
			refused: [describe(bundle, "refused", [problemOf("bundle.digest_mismatch", { file: path }, fields)])],
		};
	}
	if (receipt?.enabled === false) return { bundles: [], refused: [describe(bundle, "disabled", [])] };
	return { bundles: [bundle], refused: [] };
}

function describe(bundle: VerifiedBundle, state: RefusedBundle["state"], problems: readonly Problem[]): RefusedBundle {
	const { id, version, runtime, provides } = bundle.manifest;
	const kinds = [
		...(provides.tools?.length ? ["tool"] : []),
		...(provides.providers?.length ? ["provider"] : []),
		...(provides.memory?.length ? ["memory"] : []),
		...(provides.channels?.length ? ["channel"] : []),
	];
	return { path: bundle.path, id, version, kinds, runtime, digest: bundle.digest, state, problems };
}

async function listFirstParty(folder: string): Promise<Candidate[]> {
	const candidates: Candidate[] = [];
	const { entries } = await entriesOf(folder).catch(() => ({ entries: [] }));
	for (const entry of entries) {
		const path = join(folder, entry.name);
		if (entry.isDirectory() && !/^[._]/.test(entry.name) && (await exists(join(path, manifestFile))))
			candidates.push({ path, origin: "first-party" });
	}
	return candidates;
}

async function listDropped(input: {
	readonly drop: string;
	readonly receipts: Receipts;
	readonly refused: RefusedBundle[];
	readonly notes: Problem[];
}): Promise<Candidate[]> {
	const { drop, receipts, refused, notes } = input;
	const refuse = (path: string, problem: Problem): void => {
		refused.push({ path, state: "refused", problems: [problem] });
	};
	const state = await lstat(drop).catch((error: NodeJS.ErrnoException) => error);
	if (state instanceof Error) {
		const detail = state.code ?? state.message;
		if (detail !== "ENOENT") refuse(drop, problemOf("file.unreadable", { file: drop }, { detail }));
		return [];
	}
	const unsafe = unsafeReason(drop, state);
	if (unsafe !== undefined || !state.isDirectory()) {
		refuse(drop, unsafe ?? problemOf("bundle.drop_folder_unsafe", { file: drop }, { path: drop, ...notAFolder }));
		return [];
	}
	let entries: Dirent[];
	try {
		const found = await entriesOf(drop, isStray);
		entries = found.entries;
		noteStrays(drop, found.strays, notes);
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		refuse(drop, problemOf("file.unreadable", { file: drop }, { detail: code ?? message }));
		return [];
	}
	const names = new Set(entries.map((entry) => entry.name));
	const candidates: Candidate[] = [];
	for (const { name } of entries) {
		const path = join(drop, name);
		const ignore = (detail: string): void => {
			notes.push(problemOf("bundle.ignored", { file: path }, { path, detail }));
		};
		const entry = await lstat(path).catch(() => undefined);
		if (entry === undefined) continue;
		const aside = asideName.exec(name)?.[1];
		const isHeldOpen = aside !== undefined && !names.has(aside) && receiptOf(receipts, aside)?.next !== undefined;
		if (name.startsWith(".") && !isHeldOpen) ignore("its name begins with a dot");
		else if (name === "node_modules") ignore("it is a folder of packages");
		else if (entry.isSymbolicLink()) refuse(path, problemOf("bundle.link", { file: path }, { path }));
		else if (
			entry.isDirectory() ? !(await exists(join(path, manifestFile))) : !(entry.isFile() && isArchiveName(name))
		) {
			if (entry.isDirectory()) notes.push(problemOf("bundle.half_written", { file: path }, { path }));
			else ignore("a bundle is a folder or a .tgz");
		} else {
			const reason = unsafeReason(path, entry);
			if (reason !== undefined) refuse(path, reason);
			else candidates.push({ path, origin: "dropped" });
		}
	}
	return candidates;
}

const notAFolder = { detail: "is not a plain folder", command: "Put a folder there." };

/** What is wrong with the owner or mode of something in or at the drop folder. Windows has neither. */
function unsafeReason(path: string, state: Stats): Problem | undefined {
	const user = process.getuid?.();
	if (user === undefined || state.isSymbolicLink()) return undefined;
	const unsafe = (detail: string, command: string): Problem =>
		problemOf("bundle.drop_folder_unsafe", { file: path }, { path, detail, command });
	if (state.uid !== user) return unsafe("belongs to another user", `Run: chown ${user} ${path}`);
	if ((state.mode & 0o022) !== 0) return unsafe("can be written by others", `Run: chmod go-w ${path}`);
	return undefined;
}

/** Files that lie about and are noted by name; of more only the number is told. */
const maxStrays = 100;

/** A plain file that can be no bundle. */
function isStray(entry: Dirent): boolean {
	return entry.isFile() && !isArchiveName(entry.name) && !entry.name.startsWith(".");
}

/** The first strays by name, and how many there are. */
type Strays = { readonly names: readonly string[]; readonly count: number };

function noteStrays(drop: string, strays: Strays, notes: Problem[]): void {
	for (const name of strays.names) {
		const path = join(drop, name);
		notes.push(problemOf("bundle.ignored", { file: path }, { path, detail: "a bundle is a folder or a .tgz" }));
	}
	const more = strays.count - strays.names.length;
	if (more > 0)
		notes.push(problemOf("bundle.ignored", { file: drop }, { path: drop, detail: `${more} more files of it` }));
}

/** The entries of a folder in order. Strays are counted and not sorted: of them there may be any number. */
async function entriesOf(
	folder: string,
	isLeftOut: (entry: Dirent) => boolean = () => false,
): Promise<{ readonly entries: Dirent[]; readonly strays: Strays }> {
	const entries: Dirent[] = [];
	let names: string[] = [];
	let count = 0;
	for await (const entry of await opendir(folder)) {
		if (!isLeftOut(entry)) {
			entries.push(entry);
			continue;
		}
		count += 1;
		names.push(entry.name);
		if (names.length === 2 * maxStrays) names = names.sort(comparePaths).slice(0, maxStrays);
	}
	return {
		entries: entries.sort((a, b) => comparePaths(a.name, b.name)),
		strays: { names: names.sort(comparePaths).slice(0, maxStrays), count },
	};
}

function exists(path: string): Promise<boolean> {
	return access(path, constants.F_OK).then(
		() => true,
		() => false,
	);
}
