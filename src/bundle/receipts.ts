import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { BundleId } from "@mortise/sdk/contract";
import writeFileAtomic from "write-file-atomic";
import { z } from "zod";
import { holdLock } from "../database.js";
import { HostError } from "../errors.js";
import { checkValue, faultText } from "../schema-check.js";

const Digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/** What is known of a bundle besides its files. `digest` is absent when it was dropped in rather than installed. */
export const Receipt = z.strictObject({
	digest: Digest.optional(),
	version: z.string().optional(),
	/** Who signed it; nothing is signed yet. */
	signer: z.null(),
	/** ISO 8601 UTC. */
	installedAt: z.iso.datetime().optional(),
	/** The operating-system user who installed it. */
	by: z.string().optional(),
	/** The folder or archive it was installed from. */
	source: z.string().optional(),
	enabled: z.boolean(),
	/** The digest that is taking the place of `digest`; there only while an installation is under way or was cut off. */
	next: Digest.optional(),
});
export type Receipt = z.infer<typeof Receipt>;

/** `receipts.json`. */
export const ReceiptsFile = z.strictObject({ v: z.literal(1), bundles: z.record(BundleId, Receipt) });
/** Bundle id → receipt. */
export type Receipts = { readonly [id: string]: Receipt };

/**
 * Reads `receipts.json` of a home; none there means none. A damaged file throws `receipts.invalid`, one that cannot be
 * read `file.unreadable`.
 */
export async function readReceipts(home: string): Promise<Receipts> {
	const file = receiptsPath(home);
	let text: string;
	try {
		text = await readFile(file, "utf8");
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		if (code === "ENOENT") return {};
		throw new HostError("file.unreadable", { file, detail: code ?? message }, { cause: error });
	}
	let value: unknown;
	try {
		// zod passes this key over in silence, and the next write would lose it
		value = JSON.parse(text, (key, each) => (key === "__proto__" ? notAllowed(key) : each));
	} catch (error) {
		throw new HostError("receipts.invalid", { file, detail: "it is not plain JSON" }, { cause: error });
	}
	const checked = checkValue(ReceiptsFile, value);
	if (checked.ok) return checked.value.bundles;
	throw new HostError("receipts.invalid", { file, detail: faultText(checked.faults) });
}

/** The receipt of an id; own members only. */
export function receiptOf(receipts: Receipts, id: string): Receipt | undefined {
	return Object.hasOwn(receipts, id) ? receipts[id] : undefined;
}

const queues = new Map<string, Promise<unknown>>();

/**
 * Changes the receipt of one bundle and writes the file in one piece (mode 0600); `undefined` takes it out. Changes
 * within this process come one after the other. Throws as {@link readReceipts}, and `bundle.write_failed`.
 */
export function updateReceipt(
	home: string,
	id: string,
	change: (before: Receipt | undefined) => Receipt | undefined,
): Promise<void> {
	const before = queues.get(home) ?? Promise.resolve();
	const run = before.catch(() => undefined).then(() => apply(home, id, change));
	queues.set(home, run);
	const forget = (): void => {
		if (queues.get(home) === run) queues.delete(home);
	};
	run.then(forget, forget);
	return run;
}

async function apply(
	home: string,
	id: string,
	change: (before: Receipt | undefined) => Receipt | undefined,
): Promise<void> {
	const release = await lockReceipts(home);
	try {
		await applyLocked(home, id, change);
	} finally {
		release();
	}
}

/** Other processes change the file too. */
async function lockReceipts(home: string): Promise<() => void> {
	const file = receiptsPath(home);
	try {
		await mkdir(home, { recursive: true, mode: 0o700 });
		return holdLock(join(home, "receipts.lock"));
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		throw new HostError("bundle.write_failed", { path: file, detail: code ?? message }, { cause: error });
	}
}

async function applyLocked(
	home: string,
	id: string,
	change: (before: Receipt | undefined) => Receipt | undefined,
): Promise<void> {
	const receipts = await readReceipts(home);
	const changed = change(receiptOf(receipts, id));
	const others = Object.entries(receipts).filter(([other]) => other !== id);
	const bundles = Object.fromEntries(
		[...others, ...(changed === undefined ? [] : [[id, changed] as const])].sort(([a], [b]) => (a < b ? -1 : 1)),
	);
	const file = receiptsPath(home);
	try {
		await writeFileAtomic(file, `${JSON.stringify({ v: 1, bundles }, undefined, "\t")}\n`, { mode: 0o600 });
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		throw new HostError("bundle.write_failed", { path: file, detail: code ?? message }, { cause: error });
	}
}

/** Turns a bundle on or off for the next load; also one that was dropped in and has no receipt yet. Throws as {@link updateReceipt}. */
export function setBundleEnabled(options: {
	readonly home: string;
	readonly id: string;
	readonly enabled: boolean;
}): Promise<void> {
	const { home, id, enabled } = options;
	return updateReceipt(home, id, (before) => ({ signer: null, ...before, enabled }));
}

function notAllowed(key: string): never {
	throw new Error(`the key ${key} is not allowed`);
}

function receiptsPath(home: string): string {
	return join(home, "receipts.json");
}
