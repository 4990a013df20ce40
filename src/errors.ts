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
	"yaml.encoding": { owner: "author", message: "{file} is not UTF-8", next: "Save the file as UTF-8." },
	"yaml.tag": { owner: "author", message: "the tag {tag} is not allowed", next: "Leave the tag out." },
	"yaml.duplicate_key": {
		owner: "author",
		message: 'the key "{key}" stands here a second time',
		next: "Keep one of the two.",
	},
	"yaml.forbidden_key": { owner: "author", message: 'the key "{key}" is not allowed', next: "Use another name." },
	"yaml.alias_limit": {
		owner: "author",
		message: "more aliases than {max}, or aliases that stand for too much",
		next: "Write the values out.",
	},
	"yaml.too_many_parts": {
		owner: "author",
		message: "{file} has more than {max} words, marks and spaces",
		next: "Make the file smaller.",
	},
	"yaml.too_deep": { owner: "author", message: "nested deeper than {max}", next: "Make the file flatter." },
	"schema.invalid": { owner: "author", message: "{detail}", next: "See docs/reference.md for the shape of this file." },
	"file.unreadable": {
		owner: "operator",
		message: "{file} cannot be read: {detail}",
		next: "Check that the file exists and can be read.",
	},
	"file.unwritable": {
		owner: "operator",
		message: "{file} cannot be written: {detail}",
		next: "Name another place, or correct the permissions of its folder.",
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
	// bundles: the manifest
	"bundle.contract_version": {
		owner: "author",
		message: "contract {actual} is not one this host speaks; it speaks 1",
		next: "Set contract: 1, or use a host that speaks the other.",
	},
	"bundle.provides_nothing": {
		owner: "author",
		message: "the bundle provides no tool, provider, memory, channel or state target",
		next: "Add at least one under provides.",
	},
	"bundle.duplicate_name": {
		owner: "author",
		message: 'the {kind} "{name}" stands here a second time',
		next: "Give each its own name.",
	},
	"bundle.reserved_name": {
		owner: "author",
		message: 'the name "{name}" belongs to the host; no bundle may claim it',
		next: "Rename the tool.",
	},
	"bundle.entry_mismatch": {
		owner: "author",
		message: "the entry {entry} does not fit runtime {runtime}",
		next: "An entry ends in .wasm for wasm, in .js or .mjs for esm.",
	},
	"bundle.export_needs_wasm": {
		owner: "author",
		message: 'the tool "{name}" names an export, which only a wasm bundle has',
		next: "Leave export out; an esm tool is called through handle.",
	},
	"bundle.input_needs_export": {
		owner: "author",
		message: 'the tool "{name}" has input: {input}, which goes with export only',
		next: "Give a JSON Schema with type: object.",
	},
	"bundle.tool_input": {
		owner: "author",
		message: 'the input of the tool "{name}" is not a schema of an object',
		next: "Give a JSON Schema with type: object.",
	},
	"bundle.schema_invalid": {
		owner: "author",
		message: "this is not a usable JSON Schema: {detail}",
		next: "Correct the schema (JSON Schema 2020-12).",
	},
	"bundle.config_open": {
		owner: "author",
		message: "the config schema must be closed",
		next: "Add type: object and additionalProperties: false.",
	},
	"bundle.secret_host": {
		owner: "author",
		message: "the secret {name} is used on {host}, which permissions.http.hosts does not cover",
		next: "Add the host to permissions.http.hosts.",
	},
	// bundles: files
	"bundle.path_escape": {
		owner: "author",
		message: 'the path "{path}" leads out of the bundle',
		next: "Pack relative paths without '..' only.",
	},
	"bundle.path_invalid": {
		owner: "author",
		message: 'the path "{path}" is not allowed: {detail}',
		next: "Rename the file.",
	},
	"bundle.path_clash": {
		owner: "author",
		message: 'the paths "{path}" and "{other}" are one file on some systems',
		next: "Rename one of them.",
	},
	"bundle.link": {
		owner: "author",
		message: '"{path}" is a link; a bundle holds plain files only',
		next: "Put the file itself there.",
	},
	"bundle.special_file": {
		owner: "author",
		message: '"{path}" is a {kind}; a bundle holds plain files only',
		next: "Remove it.",
	},
	"bundle.too_many_files": { owner: "author", message: "more than {max} files", next: "Bundle the sources." },
	"bundle.file_too_large": {
		owner: "author",
		message: '"{path}" is larger than {max} bytes',
		next: "Make the file smaller.",
	},
	"bundle.too_large": { owner: "author", message: "more than {max} bytes in all", next: "Make the bundle smaller." },
	"bundle.ratio": {
		owner: "author",
		message: "the archive unpacks to more than {max} times its size",
		next: "Pack the bundle again without filler.",
	},
	"bundle.archive_invalid": {
		owner: "author",
		message: "this is not a whole .tar.gz archive: {detail}",
		next: "Pack or download it again.",
	},
	"bundle.no_manifest": {
		owner: "author",
		message: "there is no plugin.yaml",
		next: "Put plugin.yaml at the top of the bundle.",
	},
	"bundle.entry_missing": {
		owner: "author",
		message: 'the entry "{entry}" is not in the bundle',
		next: "Build the bundle, or correct entry.",
	},
	"bundle.wasm_invalid": {
		owner: "author",
		message: '"{entry}" is not a WebAssembly module: {detail}',
		next: "Build the module again.",
	},
	"bundle.wasm_truncated": {
		owner: "author",
		message: '"{entry}" ends in the middle of a section',
		next: "Build or copy the module again.",
	},
	"bundle.not_text": { owner: "author", message: '"{path}" is not UTF-8', next: "Save the file as UTF-8." },
	"bundle.digest_mismatch": {
		owner: "operator",
		message: "{path} does not have the digest {where} says: {actual} instead of {expected}",
		next: "Get the bundle again from its author; if you changed it yourself, install it again.",
	},
	"bundle.sums_invalid": {
		owner: "author",
		message: "SHA256SUMS does not list exactly the files of the bundle: {detail}",
		next: "Make it again with sha256sum over every other file.",
	},
	// bundles: the drop folder
	"bundle.duplicate_id": {
		owner: "operator",
		message: "the id {id} stands in several places: {paths}",
		next: "Keep one of them.",
	},
	"bundle.drop_folder_unsafe": {
		owner: "operator",
		message: "{path} {detail}, so nothing in it is loaded",
		next: "{command}",
	},
	"bundle.ignored": { owner: "operator", message: "{path} is no bundle: {detail}", next: "Nothing needs to be done." },
	"bundle.half_written": {
		owner: "operator",
		message: "{path} holds no plugin.yaml",
		next: "Finish copying the bundle, or remove the folder.",
	},
	"bundle.already_installed": {
		owner: "operator",
		message: "{id} is installed with other content (version {version})",
		next: "Add --force to replace it.",
	},
	"bundle.not_installed": {
		owner: "operator",
		message: "there is no bundle {id} in {drop}",
		next: "See mortise plugin list.",
	},
	"bundle.refused": {
		owner: "author",
		message: "{path} is refused with {count} problem(s)",
		next: "Correct each place listed.",
	},
	"bundle.write_failed": {
		owner: "operator",
		message: "{path} cannot be written: {detail}",
		next: "Check the folder's space and permissions.",
	},
	"receipts.invalid": {
		owner: "operator",
		message: "{file} is damaged: {detail}",
		next: "Correct it by hand or move it away; nothing overwrites it.",
	},
	// command line
	usage: { owner: "operator", message: "{detail}", next: "Run mortise --help." },
	"engine.export_missing": {
		owner: "author",
		message: "the module of {plugin} lacks exports its manifest needs: {missing}",
		next: "Export them, or correct plugin.yaml.",
	},
	// runtime
	"home.unusable": {
		owner: "operator",
		message: "the home folder {folder} cannot be used: {detail}",
		next: "Give another with --home, or correct its owner and mode.",
	},
	"home.database_unusable": {
		owner: "operator",
		message: "the database {file} cannot be opened: {detail}",
		next: "Move it aside to start with an empty one, or restore a copy; nothing was written to it.",
	},
	"load.not_provided": {
		owner: "operator",
		message: "the bundle {id} has to run under {profile}, which is not provided on this host",
		next: "Run mortise doctor to see why, or lower the profile that the bundle or the grant names.",
	},
	"load.unsigned": {
		owner: "operator",
		message: "the bundle {id} is not signed, and bundles.require_signature asks for signatures",
		next: "This version reads no signatures: set bundles.require_signature to off to load it.",
	},
	"load.config_invalid": {
		owner: "operator",
		message: "the settings for {id} do not fit its config schema: {detail}",
		next: "Correct grants.{id}.config in mortise.yaml.",
	},
	"load.not_linked": {
		owner: "author",
		message: "{id} asks for the permission {permission}, which this version does not provide: nothing is linked for it",
		next: "It is loaded and works as far as it can without.",
	},
	"load.name_taken": {
		owner: "operator",
		message: "the {kind} {name} of {id} gives way to that of {winner}",
		next: "Disable one of the two bundles.",
	},
	"agent.unknown": {
		owner: "operator",
		message: "the agent {agent} cannot be used: {detail}",
		next: "Name it under agents in mortise.yaml.",
	},
	"state.no_target": {
		owner: "operator",
		message: "no state target {target} is loaded",
		next: "Install a bundle that serves it.",
	},
	"gate.not_asked": {
		owner: "host",
		message: "a call of {tool} came without a decision of the gate, and was not run",
		next: "This is a fault of Mortise; please report it.",
	},
	"plugin.first_party": {
		owner: "operator",
		message: "{id} comes with Mortise and is not in the drop folder",
		next: "Run mortise plugin disable {id} to keep it from being loaded.",
	},
	"plugin.first_party_id": {
		owner: "operator",
		message: "{id} is the id of a bundle that comes with Mortise; with two of one id neither would be loaded",
		next: "Give the bundle another id, or set bundles.first_party: false and grant the ones you need.",
	},
	"plugin.unknown": {
		owner: "operator",
		message: "there is no bundle {id}; known: {known}",
		next: "Run mortise plugin list.",
	},
	"tool.unknown": {
		owner: "operator",
		message: "there is no tool {name}",
		next: "Run mortise plugin list, or mortise why {name}.",
	},
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
		next: "Report it to the author of the plugin.",
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
	"plugin.trap": {
		owner: "plugin",
		message: "{plugin} trapped: {detail}",
		next: "Report it to the author of the plugin; the next call starts afresh.",
	},
	"plugin.guest_error": {
		owner: "plugin",
		message: "{plugin} ended with an error: {message}",
		next: "The plugin reported this itself.",
	},
	"plugin.exit_code": {
		owner: "plugin",
		message: "{plugin} ended {name} with {status}",
		next: "Report it to the author of the plugin: it gave no reason.",
	},
	"plugin.bad_address": {
		owner: "plugin",
		message: "{plugin} used an address outside its own blocks in {operation}",
		next: "Report it to the author of the plugin; the next call starts afresh.",
	},
	"plugin.limit": {
		owner: "plugin",
		message: "{plugin} wanted more {what} than the {max} allowed",
		next: "Ask it for less, or raise limits.memory for this bundle.",
	},
	"plugin.link": {
		owner: "plugin",
		message: "{plugin} cannot be linked: {detail}",
		next: "Report it to the author of the plugin.",
	},
	"plugin.no_export": {
		owner: "plugin",
		message: "{plugin} exports no function {name} that takes nothing",
		next: "Report it to the author of the plugin: its manifest and its code differ.",
	},
	"plugin.unauthorized": {
		owner: "operator",
		message: "{plugin} may not use {permission}: it was not granted",
		next: "Run: mortise grant {plugin} {permission}",
	},
	"plugin.not_asked": {
		owner: "plugin",
		message: "{plugin} used {name} without asking for it in its manifest",
		next: "Its author has to ask for it under permissions in plugin.yaml.",
	},
	"engine.invalid_input": {
		owner: "operator",
		message: "the input of {op} does not have the shape it takes",
		next: "See the description of the tool.",
	},
	"engine.module_invalid": {
		owner: "author",
		message: "the module cannot be read: {detail}",
		next: "Build it again; a WebAssembly 1.0 core module is wanted.",
	},
	"engine.module_unsupported": {
		owner: "author",
		message: "the module uses {what}, which this engine does not provide",
		next: "Build it as a plain core module.",
	},
	"engine.memory_too_large": {
		owner: "author",
		message: "the module begins with {bytes} bytes of memory, more than the {maxBytes} allowed",
		next: "Build it with a smaller initial memory, or raise limits.memory for this bundle.",
	},
	"engine.memory_shared": {
		owner: "author",
		message: "the module's memory is shared between threads",
		next: "Build it without threads.",
	},
	"engine.memory_64bit": {
		owner: "author",
		message: "the module's memory is 64-bit",
		next: "Build it for wasm32.",
	},
	"engine.memory_multiple": {
		owner: "author",
		message: "the module has {count} memories",
		next: "Build it with one memory.",
	},
	"engine.memory_imported": {
		owner: "author",
		message: "the module imports its memory ({import})",
		next: "Build it so that it defines its own memory.",
	},
	"engine.table_too_large": {
		owner: "author",
		message: "the module has {detail}",
		next: "Build it with fewer or smaller tables.",
	},
	"engine.import_unknown": {
		owner: "author",
		message: "the module imports {import}, which no host function provides",
		next: "See the host functions in the plugin authors' guide.",
	},
	"engine.import_not_asked": {
		owner: "author",
		message: "the module imports {import} without asking for {name} in its manifest",
		next: "Ask for it under permissions in plugin.yaml.",
	},
	"engine.import_kind": {
		owner: "author",
		message: "the module imports {import}, which is no function",
		next: "Only functions can be imported.",
	},
	"engine.no_room": {
		owner: "host",
		message: "no memory could be had for another instance: {detail}",
		next: "Run fewer turns at once, or give this machine more memory.",
	},
	"engine.unknown_operation": {
		owner: "host",
		message: "the contract knows no operation {op}",
		next: "This is a fault of Mortise; please report it.",
	},
	// agent: repositories, turns, sessions
	"repository.unreadable": {
		owner: "operator",
		message: "{path} is no agent repository: {detail}",
		next: "Name a folder that holds .living/manifest.yaml.",
	},
	"repository.outside": {
		owner: "author",
		message: "the path {path} is refused: {detail}",
		next: "Name a file inside the repository, with no link that leaves it.",
	},
	"repository.unusable": {
		owner: "author",
		message: "the file {path} cannot be used: {detail}",
		next: "Correct the path in .living/manifest.yaml, or the file.",
	},
	"repository.request": {
		owner: "author",
		message: "{detail}",
		next: "See docs/reference.md for what .living/manifest.yaml may hold.",
	},
	"repository.not_askable": {
		owner: "author",
		message: 'a repository cannot ask for "{key}": that is the operator\'s to decide',
		next: "Take the key out of x-mortise.",
	},
	"turn.cancelled": {
		owner: "operator",
		message: "the turn was cancelled while it waited for {waiting}",
		next: "Send the message again.",
	},
	"turn.timeout": {
		owner: "operator",
		message: "the turn took longer than {timeoutMs} ms; it was waiting for {waiting}",
		next: "Raise limits.timeout of the agent, or look at what it waited for.",
	},
	"turn.empty_reply": {
		owner: "plugin",
		message: "the provider {provider} answered with neither text nor a tool call (stop: {stop})",
		next: "Try again, or choose another provider or model.",
	},
	"turn.answer_too_large": {
		owner: "plugin",
		message: "the provider {provider} answered with {what}, more than the {max} that are acted on",
		next: "Try again, or choose another provider or model.",
	},
	"turn.unknown_tool": {
		owner: "plugin",
		message: "the model asked for {tool}, which this agent does not have",
		next: "Run mortise why {tool}.",
	},
	"turn.bad_arguments": {
		owner: "plugin",
		message: "the arguments for {tool} are no JSON object",
		next: "Nothing to do: the model was told.",
	},
	"turn.denied": {
		owner: "operator",
		message: "the call of {tool} was denied by {rule}: {reason}",
		next: "Allow it in the agent's policy when it should run.",
	},
	"turn.output_invalid": {
		owner: "plugin",
		message: "the tool {tool} gave an output that does not fit its own schema: {detail}",
		next: "Report it to the author of the bundle.",
	},
	"session.other_agent": {
		owner: "operator",
		message: "the session {session} belongs to the agent {owner}, not to {agent}",
		next: "Use another session.",
	},
	"session.bad_id": {
		owner: "operator",
		message: "{session} cannot be the name of a session",
		next: "Use 1 to 128 of A-Z a-z 0-9 . _ : -",
	},
	"session.turn_limit": {
		owner: "operator",
		message: "the session {session} has had its {turns} turns",
		next: "Begin another session, or raise limits.turns of the agent.",
	},
	// engine: ES modules
	"plugin.threw": {
		owner: "plugin",
		message: "{plugin} threw: {detail}",
		next: "Report it to the author of the plugin.",
	},
	"plugin.syntax": {
		owner: "author",
		message: "{plugin}: {place}{detail}",
		next: "Correct the source of the plugin.",
	},
	"plugin.import_refused": {
		owner: "author",
		message: "{plugin}: {detail}",
		next: "Bundle what it needs into its own files; the host's functions are members of the second argument of handle.",
	},
	"plugin.no_handler": {
		owner: "author",
		message: "{plugin}: the default export of {entry} has no function handle",
		next: "Export what definePlugin makes, or an object with handle(envelope, host).",
	},
	"plugin.never_answered": {
		owner: "plugin",
		message: "{plugin} can never answer {op}: its promise is unsettled and nothing is left that could settle it",
		next: "Report it to the author of the plugin.",
	},
	"plugin.cpu_limit": {
		owner: "plugin",
		message: "{plugin} used more than {cpuMs} ms of its thread and was stopped",
		next: "Give it more with limits.cpu for this bundle, or ask it for less.",
	},
	"plugin.memory_limit": {
		owner: "plugin",
		message: "{plugin} needed more than the {memoryBytes} bytes of memory it is allowed",
		next: "Give it more with limits.memory for this bundle, or ask it for less.",
	},
	"plugin.stack_limit": {
		owner: "plugin",
		message: "{plugin} called itself too deeply and was stopped",
		next: "Report it to the author of the plugin.",
	},
	"plugin.crashed": {
		owner: "plugin",
		message: "{plugin} broke the engine that ran it, which was thrown away: {detail}",
		next: "Report it to the author of the plugin.",
	},
	// grants and secrets
	"grant.word_invalid": {
		owner: "operator",
		message: '"{word}" is no permission: {detail}',
		next: "Run mortise plugin inspect BUNDLE to see what the bundle asks for.",
	},
	"grant.bundle_invalid": {
		owner: "operator",
		message: '"{id}" is no bundle id',
		next: "Run mortise plugin list to see the ids.",
	},
	"grants.invalid": {
		owner: "operator",
		message: "{file} has {count} problem(s)",
		next: "Correct each place listed; the file was left as it is and no grant of it is in force.",
	},
	"private_file.exposed": {
		owner: "operator",
		message: "{file} can be {access} by other users",
		next: "Run chmod 600 {file}.",
	},
	"private_file.unreadable": {
		owner: "operator",
		message: "{file} cannot be used: {detail}",
		next: "Make it a plain file that the user of the host can read and write.",
	},
	"secrets.invalid": {
		owner: "operator",
		message: "{file} has {count} problem(s)",
		next: "Correct each place listed; the file was left as it is.",
	},
	"secret.value_refused": {
		owner: "operator",
		message: "the value for {name} was not stored: {detail}",
		next: "Give a value of at least 8 characters that an HTTP header can hold.",
	},
	"secret.name_invalid": {
		owner: "operator",
		message: '"{name}" is no name for a secret',
		next: "Use letters, digits and '_', not beginning with a digit.",
	},
	// native tools, memory and the audit log
	"memory.store_failed": {
		owner: "operator",
		message: "the memory store {store} failed: {detail}",
		next: "Run mortise doctor; check the space and permissions of the home folder.",
	},
	"memory.plugin_failed": {
		owner: "plugin",
		message: "the memory store {store} broke: {detail}",
		next: "See mortise plugin list; another store can be set with memory in mortise.yaml.",
	},
	"workspace.failed": {
		owner: "operator",
		message: "{tool} could not use the workspace: {detail}",
		next: "Check the space and permissions of the agent's workspace folder.",
	},
	"audit.write_failed": {
		owner: "operator",
		message: "the audit log {path} cannot be written: {detail}",
		next: "Check the space and permissions of the home folder; no tool call is allowed without its record.",
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
