export { type BundleDigest, digestFiles } from "./digest.js";
export { type DiscoverOptions, type Discovery, discoverBundles } from "./discover.js";
export { type BundleCaps, type BundleContent, defaultCaps } from "./file-list.js";
export {
	type Installed,
	type InstallOptions,
	type InstallStep,
	installBundle,
	installSteps,
	removeBundle,
} from "./install.js";
export type { CompileSchema } from "./manifest-rules.js";
export { readArchive } from "./read-archive.js";
export { isArchiveName, readBundle } from "./read-bundle.js";
export { readFolder } from "./read-folder.js";
export { type ManifestClaims, type ManifestRead, readManifest } from "./read-manifest.js";
export { type Receipt, type Receipts, readReceipts, receiptOf, setBundleEnabled } from "./receipts.js";
export { refusedError } from "./refused-error.js";
export { checkSums } from "./sha256sums.js";
export { type Verification, verifyBundle } from "./verify.js";
export { checkWasmFraming, type WasmFraming } from "./wasm-framing.js";
