import type { ErrorReport, Owner, Problem } from "./contract/index.js";

type Entry = { readonly owner: Owner; readonly message: string; readonly next?: string };

/**
 * The one table of errors: code → whose it is, what happened, what to do next. `{name}` takes a field of the error.
 * A test proves that the reference page lists the same codes.
 */
export const errorTable = {
	// input files
	"yaml.too_large": {
		owner: "author",
		message: "{file} is larger than {maxBytes} bytes",
		next: "Make the file smaller.",
	},
	"yaml.syntax": { owner: "author", message: "{detail}", next: "Correct the YAML." },
	"schema.invalid": { owner: "author", message: "{detail}", next: "See docs/reference.md for the shape of this file." },
	"file.unreadable": {
		owner: "operator",
		message: "{file} cannot be read: {detail}",
		next: "Check that the file exists and can be read.",
	},
	"input.invalid": { owner: "author", message: "{file} has {count} problem(s)", next: "Correct each place listed." },
	"config.invalid": {
		owner: "operator",
		message: "{file} has {count} problem(s)",
		next: "Correct each place listed; nothing was started.",
	},
	// capability document and validation
	"document.underivable": {
		owner: "operator",
		message: "the loaded set makes no valid capability document: {detail}",
		next: "Run mortise doctor; a runtime needs a protocol version, an isolation profile and a state target.",
	},
	"validate.unknown_kind": {
		owner: "author",
		message: "{file} is none of: runtime document, agent manifest, plugin.yaml, config",
		next: "Name the file runtime.yaml, .living/manifest.yaml, plugin.yaml or mortise.yaml.",
	},
	"validate.warning": {
		owner: "author",
		message: "{detail}",
		next: "Remove it, or validate without --strict.",
	},
	// state publication
	"state.path_refused": {
		owner: "author",
		message: "the state file {path} is refused: {detail}",
		next: "Name a .json file inside the agent's own folder, reached without links.",
	},
	"state.not_ours": {
		owner: "author",
		message: "{path} exists and holds no published state, so it is not overwritten",
		next: "Choose another path for state_publication, or remove the file.",
	},
	"state.too_large": {
		owner: "plugin",
		message: "the state to publish is {bytes} bytes, more than {maxBytes}",
		next: "Have the agent reply in fewer words.",
	},
	"state.write_failed": {
		owner: "operator",
		message: "the state file {path} cannot be written: {detail}",
		next: "Check the folder's permissions and free space.",
	},
	"state.nobody_listens": {
		owner: "operator",
		message: "nobody takes the state on {where}: {detail}",
		next: "Start the control process first, or set control_process in mortise.yaml.",
	},
	// command line
	usage: { owner: "operator", message: "{detail}", next: "Run mortise --help." },
	// pool
	"pool.closed": { owner: "host", message: "the worker pool is closed", next: "Start the host again." },
	"pool.cancelled": { owner: "operator", message: "it was cancelled while it waited in line", next: "Run it again." },
	"pool.worker_died": {
		owner: "plugin",
		message: "the worker thread running this {job} ended: {detail}",
		next: "Run it again; when it happens again, look at the plugins it used with mortise plugin list.",
	},
	"pool.no_answer": {
		owner: "plugin",
		message: "a {job} did not end within {timeoutMs} ms and its worker thread had to be ended",
		next: "Lower the cpu limit of its plugins, or give it more time.",
	},
	// engine
	"plugin.failed": {
		owner: "plugin",
		message: "{failure}: {message}",
		next: "The plugin reported this itself; its code says what kind of failure it is.",
	},
	"plugin.bad_answer": {
		owner: "plugin",
		message: "the answer to {op} does not have the shape the contract asks for: {detail}",
		next: "Report it to the author of the plugin; mortise plugin test shows it.",
	},
	"plugin.output_too_large": {
		owner: "plugin",
		message: "the answer to {op} is {bytes} bytes, more than the {maxBytes} allowed",
		next: "Ask it for less, or raise limits.output for this bundle.",
	},
	"plugin.timeout": {
		owner: "plugin",
		message: "{plugin} did not end within {timeoutMs} ms and was stopped ({limit})",
		next: "Give it more with limits.{limit} for this bundle, or ask it for less.",
	},
	"plugin.cancelled": {
		owner: "operator",
		message: "the call of {plugin} was cancelled",
		next: "Nothing to do: whoever asked for the call withdrew it.",
	},
	"engine.unknown_operation": {
		owner: "host",
		message: "the contract knows no operation {op}",
		next: "This is a fault of Mortise; please report it.",
	},
	// the host itself
	"host.internal": {
		owner: "host",
		message: "something in the host broke: {detail}",
		next: "This is a fault of Mortise; please report it.",
	},
} as const satisfies Record<string, Entry>;

/** A code of the table. */
export type ErrorCode = keyof typeof errorTable;
/** Values that a message shows; control characters are escaped. */
export type ErrorFields = { readonly [name: string]: string | number | boolean | readonly string[] | undefined };

const marker = Symbol.for("mortise.host-error");

/** An error with a code, an owner and a next step. Recognise one with `isHostError`, which survives two copies of the package. */
export class HostError extends Error {
	readonly [marker] = true;
	readonly code: ErrorCode;
	readonly fields: ErrorFields;
	readonly problems: readonly Problem[] | undefined;

	constructor(
		code: ErrorCode,
		fields: ErrorFields = {},
		options: { cause?: unknown; problems?: readonly Problem[] } = {},
	) {
		super(fill(errorTable[code].message, fields), options.cause === undefined ? undefined : { cause: options.cause });
		this.name = "HostError";
		this.code = code;
		this.fields = fields;
		this.problems = options.problems;
	}
}

export function isHostError(value: unknown): value is HostError {
	return typeof value === "object" && value !== null && marker in value;
}

/** An error as data, as it crosses threads and is printed. Anything that is no `HostError` is the host's own fault. */
export function reportOf(error: unknown): ErrorReport {
	if (!isHostError(error)) {
		const detail = error instanceof Error ? error.message : String(error);
		return reportOf(new HostError("host.internal", { detail }));
	}
	return errorReport(error.code, error.fields, error.problems);
}

/** An error report without throwing. */
export function errorReport(code: ErrorCode, fields: ErrorFields = {}, problems?: readonly Problem[]): ErrorReport {
	const entry: Entry = errorTable[code];
	return {
		code,
		owner: entry.owner,
		message: fill(entry.message, fields),
		...(entry.next === undefined ? {} : { next: fill(entry.next, fields) }),
		...(problems === undefined ? {} : { problems }),
	};
}

/** A problem of an input file, worded by the table. */
export function problemOf(
	code: ErrorCode,
	place: { file: string; line?: number; column?: number; pointer?: string },
	fields: ErrorFields = {},
): Problem {
	const entry: Entry = errorTable[code];
	const all = { file: place.file, ...fields };
	return {
		code,
		file: place.file,
		line: place.line ?? 0,
		column: place.column ?? 0,
		pointer: place.pointer ?? "",
		message: fill(entry.message, all),
		...(entry.next === undefined ? {} : { fix: fill(entry.next, all) }),
	};
}

/** Text from outside made safe to show: control, bidirectional and other invisible characters are escaped. */
export function escapeText(value: string): string {
	return value.replace(
		/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu,
		(character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
	);
}

function fill(template: string, fields: ErrorFields): string {
	return template.replace(/\{([a-zA-Z]+)\}/g, (whole, name: string) => {
		const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
		if (value === undefined) return whole;
		return typeof value === "object" ? value.map((item) => escapeText(item)).join(", ") : escapeText(String(value));
	});
}
