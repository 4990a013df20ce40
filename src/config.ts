import { dirname, join, resolve } from "node:path";
import envPaths from "env-paths";
import { Config } from "./contract/index.js";
import { HostError } from "./errors.js";
import { readStart } from "./read-start.js";
import { checkDocument, maxDocumentBytes, readYaml } from "./yaml.js";

/** Where the configuration came from, and what follows from that. */
export type LoadedConfig = {
	readonly config: Config;
	/** The file, or undefined when the embedded default is in force. */
	readonly file: string | undefined;
	/** Relative paths of the configuration start here. */
	readonly folder: string;
	/** The folder that holds bundles, state, cache and logs; absolute. */
	readonly home: string;
};

export type ConfigRequest = {
	/** `--config`; without it `mortise.yaml` in the working folder is taken when there is one. */
	readonly file?: string | undefined;
	/** `--home`; stronger than the file's `home`. */
	readonly home?: string | undefined;
	readonly cwd?: string;
};

/** What the host takes from the environment. Only this file reads it. */
export type Environment = {
	readonly variables: Readonly<Record<string, string | undefined>>;
	readonly logLevel: string;
	readonly homeFolder: string | undefined;
};

/** Reads the environment once: `MORTISE_HOME`, `MORTISE_LOG` (a pino level, `warn` unless set). */
export function readEnvironment(variables: Environment["variables"] = { ...process.env }): Environment {
	return {
		variables,
		logLevel: orUnset(variables.MORTISE_LOG) ?? "warn",
		homeFolder: orUnset(variables.MORTISE_HOME),
	};
}

/** An empty variable is one that is not set. */
function orUnset(value: string | undefined): string | undefined {
	return value === "" ? undefined : value;
}

/**
 * Reads the operator's configuration.
 *
 * @throws HostError `config.invalid` with every problem; `file.unreadable` when a named file is not there
 */
export async function loadConfig(request: ConfigRequest, environment = readEnvironment()): Promise<LoadedConfig> {
	const cwd = request.cwd ?? process.cwd();
	const file = request.file === undefined ? join(cwd, "mortise.yaml") : resolve(cwd, request.file);
	const bytes = await readStart(file, maxDocumentBytes).catch((error: NodeJS.ErrnoException) => {
		if (request.file === undefined && error.code === "ENOENT") return undefined;
		throw new HostError("file.unreadable", { file, detail: error.code ?? error.message }, { cause: error });
	});
	const given = request.home ?? environment.homeFolder;
	if (bytes === undefined) {
		const home = given === undefined ? envPaths("mortise", { suffix: "" }).data : resolve(cwd, given);
		return { config: {}, file: undefined, folder: cwd, home };
	}
	const config = parseConfig(bytes, file);
	const folder = dirname(file);
	const home = given === undefined ? resolve(folder, config.home ?? ".mortise") : resolve(cwd, given);
	return { config, file, folder, home };
}

/**
 * Reads a configuration from bytes.
 *
 * @throws HostError `config.invalid` with every problem
 */
export function parseConfig(bytes: Uint8Array, file: string): Config {
	const read = readYaml(bytes, file);
	if (read.document === undefined)
		throw new HostError("config.invalid", { file, count: read.problems.length }, { problems: read.problems });
	// an empty file says nothing, and so changes nothing
	const document = read.document.value === null ? { ...read.document, value: {} } : read.document;
	const checked = checkDocument(document, Config, "schema.invalid");
	const problems = [...read.problems, ...(checked.ok ? [] : checked.problems)];
	if (!checked.ok || problems.length > 0)
		throw new HostError("config.invalid", { file, count: problems.length }, { problems });
	return checked.value;
}
