import type { IsolationProfile, JsonObject, Manifest } from "@mortise/sdk/contract";
import type { Problem } from "./problem.js";

/** Where a bundle came from. */
export type BundleOrigin = "first-party" | "dropped" | "named";

/** A bundle whose files were read, checked and are held as bytes: the bytes verified are the bytes run. */
export type VerifiedBundle = {
	readonly origin: BundleOrigin;
	/** The folder or archive it was read from; never published (rule C11). */
	readonly path: string;
	readonly manifest: Manifest;
	/** Bundle-relative path → content, sorted by path. */
	readonly files: ReadonlyMap<string, Uint8Array>;
	/** `sha256:` and 64 hex digits over the sorted list of files. */
	readonly digest: string;
};

/** Per-call limits in force: the bundle's wish under the operator's ceiling. */
export type EffectiveLimits = {
	readonly memoryBytes: number;
	readonly cpuMs: number;
	readonly timeoutMs: number;
	readonly outputBytes: number;
};

/** What a plugin may do: asked by its manifest ∩ granted by the operator. An absent member is not linked. */
export type EffectivePermissions = {
	readonly http?: { readonly hosts: readonly string[]; readonly granted: readonly string[] };
	readonly secrets?: readonly { readonly name: string; readonly header: string; readonly host: string }[];
	readonly kv?: true;
	/** Asked for and not granted, as `grant` takes them: `http:api.acme.test`, `secret:KEY`, `kv`. */
	readonly missing: readonly string[];
};

/** An admitted bundle. */
export type LoadedPlugin = {
	readonly bundle: VerifiedBundle;
	readonly permissions: EffectivePermissions;
	readonly limits: EffectiveLimits;
	/** The effective profile before an agent's floor is applied. */
	readonly isolation: IsolationProfile;
	/** Operator settings for the bundle. */
	readonly config: JsonObject;
};

/** A bundle that is not loaded, and why. `id` is absent when the manifest could not be read. */
export type RefusedBundle = {
	readonly path: string;
	readonly id?: string;
	readonly version?: string;
	readonly kinds?: readonly string[];
	readonly runtime?: "wasm" | "esm";
	readonly digest?: string;
	readonly state: "disabled" | "refused" | "pending";
	readonly problems: readonly Problem[];
};

/** The admitted plugins, an immutable snapshot, sorted by bundle id. */
export type LoadedSet = {
	readonly plugins: readonly LoadedPlugin[];
	readonly refused: readonly RefusedBundle[];
	/** Things in the drop folder that are no bundles: noted, never fatal. */
	readonly notes: readonly Problem[];
	/** Native memory stores that are on, such as `sqlite`. */
	readonly nativeMemory: readonly string[];
	/** Native state targets, such as `file`. */
	readonly nativeStateTargets: readonly string[];
};
