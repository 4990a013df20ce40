// Runs in: worker.
import type { ErrorReport, PluginCode } from "../../contract/index.js";
import { errorReport } from "../../errors.js";
import { driverFile } from "./driver.js";
import { importRefusedName } from "./modules.js";
import { GuestMemoryError } from "./quickjs.js";

/** What a plugin threw, as the driver describes it. All of it is the plugin's own word. */
type Thrown = { readonly type: string; readonly name: string; readonly message: string; readonly stack: string };

/** Characters of a break that a report shows. */
const shownCharacters = 2048;

/**
 * The report of something a plugin threw and did not catch.
 *
 * @param text the driver's description, JSON
 * @param during `load` while its modules were evaluated, `call` afterwards
 * @param isFull whether the engine's memory has reached its maximum
 */
export function reportThrown(code: PluginCode, text: string, during: "load" | "call", isFull: boolean): ErrorReport {
	const thrown = readThrown(text);
	const plugin = code.id;
	const limit = limitReport(code, thrown, isFull);
	if (limit !== undefined) return limit;
	if (thrown.name === importRefusedName)
		return errorReport("plugin.import_refused", { plugin, detail: thrown.message });
	if (during === "load" && thrown.name === "SyntaxError") {
		const place = syntaxPlace(code, thrown.stack);
		if (place !== undefined) return errorReport("plugin.syntax", { plugin, place, detail: thrown.message });
	}
	return errorReport("plugin.threw", { plugin, detail: describe(code, thrown) });
}

/** The report of an exception that left the engine itself: it can not be used again. */
export function reportCrash(code: PluginCode, error: unknown, isFull: boolean): ErrorReport {
	const plugin = code.id;
	if (error instanceof GuestMemoryError) return memoryReport(code);
	// V8's own stack ended before the engine's
	if (error instanceof RangeError) return errorReport("plugin.stack_limit", { plugin });
	if (error instanceof WebAssembly.RuntimeError && isFull) return memoryReport(code);
	const detail = error instanceof Error ? error.message : String(error);
	return errorReport("plugin.crashed", { plugin, detail: detail.slice(0, shownCharacters) });
}

/** The report of an answer that could not be made into JSON: a limit it ran into, or `plugin.bad_answer`. */
export function reportUnreadable(code: PluginCode, op: string, text: string, isFull: boolean): ErrorReport {
	const thrown = readThrown(text);
	const bad = () => errorReport("plugin.bad_answer", { op, detail: describe(code, thrown) });
	return limitReport(code, thrown, isFull) ?? bad();
}

/** The report of a limit of the engine that was met; nothing for any other error. */
function limitReport(code: PluginCode, thrown: Thrown, isFull: boolean): ErrorReport | undefined {
	// the engine marks its own limits in no other way; a plugin that forges them only misnames its own break.
	// with no room left for an error object, it throws null
	if (thrown.name === "InternalError" && thrown.message === "out of memory") return memoryReport(code);
	if (thrown.type === "null" && isFull) return memoryReport(code);
	if (thrown.message !== "stack overflow" || !/^(InternalError|SyntaxError)$/.test(thrown.name)) return undefined;
	return errorReport("plugin.stack_limit", { plugin: code.id });
}

function memoryReport(code: PluginCode): ErrorReport {
	return errorReport("plugin.memory_limit", { plugin: code.id, memoryBytes: code.limits.memoryBytes });
}

function describe(code: PluginCode, { name, message, stack }: Thrown): string {
	const head = name === "" || name === "HostCallError" ? message : `${name}: ${message}`;
	const frames = ownFrames(code, stack);
	const where = frames.length === 0 ? "" : ` (${frames.join(" < ")})`;
	return `${head}${where}`.slice(0, shownCharacters);
}

/** The frames of a stack that lie in the bundle's own files, innermost first. */
function ownFrames(code: PluginCode, stack: string): string[] {
	return stack.split("\n").flatMap((line) => {
		const match = /^\s+at (?:(.*) \()?([^()]*):(\d+):(\d+)\)?$/.exec(line);
		const [, name, file, row, column] = match ?? [];
		if (file === undefined || file === driverFile || !isOwnFile(code, file)) return [];
		return [`${name === undefined || name === "<anonymous>" ? "" : `${name} `}${file}:${row}:${column}`];
	});
}

/** `file:line:column: ` of a source that cannot be parsed, "" when it is unknown; undefined for an error thrown later. */
function syntaxPlace(code: PluginCode, stack: string): string | undefined {
	// an export that is missing has no stack; a parse error has one bare frame, without a function
	if (stack === "") return "";
	const [, file, line, column] = /^\s+at ([^()\n]*):(\d+):(\d+)\n/.exec(stack) ?? [];
	return file !== undefined && isOwnFile(code, file) ? `${file}:${line}:${column}: ` : undefined;
}

function isOwnFile(code: PluginCode, file: string): boolean {
	return code.body.profile === "wasm-js" && Object.hasOwn(code.body.sources, file);
}

function readThrown(text: string): Thrown {
	const unknown = { type: "object", name: "", message: "something that cannot be described", stack: "" };
	try {
		const value: unknown = JSON.parse(text);
		if (typeof value !== "object" || value === null) return unknown;
		const read = (key: string) =>
			key in value && typeof Reflect.get(value, key) === "string" ? Reflect.get(value, key) : "";
		return { type: read("type"), name: read("name"), message: read("message"), stack: read("stack") };
	} catch {
		return unknown;
	}
}
