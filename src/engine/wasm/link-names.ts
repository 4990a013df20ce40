// Runs in: worker.

/** The module whose functions a plugin of the Extism kind imports. */
export const extismEnvironment = "extism:host/env";
/** The module of Mortise's own host functions, named `mortise_…` there. */
export const hostModule = "extism:host/user";
/** WASI preview 1, as a compiler writes it. */
export const wasiModule = "wasi_snapshot_preview1";

/**
 * What the SDK would otherwise put in itself is imported under these names in a prepared module, so that only our own
 * functions can be linked: WASI (the SDK's is `node:wasi`: two open files an instance, and sleeps that no deadline
 * ends), and `http_request` (replaced by the SDK's own where Node has JSPI).
 */
export const ownWasiModule = "mortise:wasi";
export const ownHttpModule = "mortise:http";

/**
 * Exports that the SDK would run while it instantiates, where no watchdog stands. In a prepared module they carry
 * `hiddenPrefix`, and the engine runs them itself.
 */
export const hiddenExports: readonly string[] = ["_initialize", "_start", "hs_init"];
export const hiddenPrefix = "mortise:";
/** The export a prepared module's start function got. */
export const startExport = `${hiddenPrefix}start`;

/** Every function of `extism:host/env` that the kernel gives. */
export const environmentFunctions = [
	"alloc",
	"free",
	"length",
	"length_unsafe",
	"load_u8",
	"load_u64",
	"store_u8",
	"store_u64",
	"input_offset",
	"input_length",
	"input_load_u8",
	"input_load_u64",
	"output_set",
	"error_set",
	"error_get",
	"config_get",
	"var_get",
	"var_set",
	"log_trace",
	"log_debug",
	"log_info",
	"log_warn",
	"log_error",
	"get_log_level",
	"http_request",
	"http_status_code",
	"http_headers",
] as const;
export type EnvironmentFunction = (typeof environmentFunctions)[number];

/** The name an export has in a prepared module. */
export function preparedExport(name: string): string {
	return hiddenExports.includes(name) ? `${hiddenPrefix}${name}` : name;
}

/** The module an import is taken from in a prepared module. */
export function preparedImport(module: string, name: string): string {
	if (module === wasiModule) return ownWasiModule;
	if (module === extismEnvironment && name === "http_request") return ownHttpModule;
	return module;
}
