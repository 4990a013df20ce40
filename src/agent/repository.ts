import { realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { IsolationProfile, SecretName } from "@mortise/sdk/contract";
import { z } from "zod";
import { AgentManifest, type ErrorReport, type Problem, RepositoryRequest } from "../contract/index.js";
import { escapeText, problemOf } from "../errors.js";
import { checkStatePath, defaultStatePath } from "../state/index.js";
import { checkDocument, maxDocumentBytes, type PlacedDocument, pointerOf, readYaml } from "../yaml.js";
import { locateInside, readInside } from "./inside.js";

/** Where a repository keeps its manifest. */
export const manifestPath = ".living/manifest.yaml";
/** The largest instructions file, in bytes of UTF-8. */
export const maxInstructionsBytes = 64 * 1024;

/** What an untrusted repository says about its agent. Every part of it is a wish. */
export type Repository = {
	/** The repository's real path. */
	readonly path: string;
	/** The manifest as plain data, unchecked: what `match` judges. */
	readonly manifest: unknown;
	/** The valid parts of `x-mortise`. */
	readonly request: RepositoryRequest;
	readonly secrets: readonly string[];
	/** Absent when the manifest's value is no known profile; `match` says so. */
	readonly isolation?: IsolationProfile;
	/** `target` is absent when it cannot be read; `match` says so. `path` is relative to the repository and stays in it. */
	readonly state: { readonly target?: string; readonly path?: string };
	/** The instructions, held as text: the bytes that were checked. */
	readonly instructions?: string;
};

/**
 * Whether the state file may be written at a path of the repository, without changing anything. Must not reject.
 *
 * @param place.root the repository's real path
 */
export type CheckStatePath = (place: {
	readonly root: string;
	readonly path: string;
}) => Promise<{ readonly ok: true } | { readonly ok: false; readonly error: ErrorReport }>;

export type ReadRepositoryOptions = {
	/** Asked when the target is `file`; the state room's own unless given. */
	readonly checkStatePath?: CheckStatePath;
	/** Check the protocol's own fields too, as `validate` does; without it they are left to `match` (rule C7). */
	readonly strict?: boolean;
};

/**
 * Reads `.living/manifest.yaml` of an untrusted repository and the instructions it names. Every path is held inside the
 * repository. Never throws: all problems come in one list with their places. `repository` is given with problems when
 * the manifest could be read, so that everything else can be judged in the same report.
 *
 * Codes: `repository.unreadable`, `repository.outside`, `repository.unusable`, `repository.request`,
 * `repository.not_askable`, `yaml.*`, and with `strict` `schema.invalid`.
 */
export async function readRepository(
	path: string,
	options: ReadRepositoryOptions = {},
): Promise<{ readonly repository?: Repository; readonly problems: readonly Problem[] }> {
	const file = join(path, manifestPath);
	const root = await findRoot(path);
	if (!root.ok) return { problems: [problemOf("repository.unreadable", { file }, { path, detail: root.detail })] };
	const read = await readInside({ root: root.path, path: manifestPath, maxBytes: maxDocumentBytes });
	if (!read.ok) {
		const code = read.kind === "missing" ? "repository.unreadable" : codeOf(read.kind);
		const shown = read.kind === "missing" ? path : manifestPath;
		return { problems: [problemOf(code, { file }, { path: shown, detail: `${manifestPath}: ${read.detail}` })] };
	}
	const yaml = readYaml(read.bytes, file);
	if (yaml.document === undefined) return { problems: yaml.problems };
	const document = yaml.document;
	const wishes = wishesOf(document.value);
	const instructions = await readInstructions(root.path, wishes.request.instructions, document);
	const state = await checkState({ root: root.path, state: wishes.state, document, options, taken: instructions.path });
	return {
		repository: {
			path: root.path,
			manifest: document.value,
			request: wishes.request,
			secrets: wishes.secrets,
			state: state.state,
			...(wishes.isolation === undefined ? {} : { isolation: wishes.isolation }),
			...(instructions.text === undefined ? {} : { instructions: instructions.text }),
		},
		problems: [
			...yaml.problems,
			...shapeProblems(document, options.strict === true),
			...instructions.problems,
			...state.problems,
		],
	};
}

async function findRoot(path: string): Promise<{ ok: true; path: string } | { ok: false; detail: string }> {
	try {
		const real = await realpath(path);
		if ((await stat(real)).isDirectory()) return { ok: true, path: real };
		return { ok: false, detail: "it is not a folder" };
	} catch (error) {
		return { ok: false, detail: (error as NodeJS.ErrnoException).code ?? String(error) };
	}
}

const notAnObject = z.unknown().refine((value) => typeof value !== "object" || value === null || Array.isArray(value));
// x-mortise is opened here, so that keys nobody may ask for get their own words below
const Needed = z.looseObject({
	secrets: z.array(SecretName).optional(),
	// anything but an object here is for `match` to judge
	state_publication: z.union([z.looseObject({ path: z.string().min(1).optional() }), notAnObject]).optional(),
	"x-mortise": RepositoryRequest.loose().optional(),
});
const askable = Object.keys(RepositoryRequest.shape);

function shapeProblems(document: PlacedDocument, strict: boolean): Problem[] {
	const needed = checkDocument(document, Needed, "repository.request");
	const asked = memberOf(document.value, "x-mortise");
	const beyond = Object.keys(recordOf(asked)).filter((key) => !askable.includes(key));
	const problems = [
		...(needed.ok ? [] : needed.problems),
		...beyond.map((key) =>
			problemOf("repository.not_askable", placeOf(document, ["x-mortise", key], true), { key: escapeText(key) }),
		),
	];
	if (!strict) return problems;
	const whole = checkDocument(document, AgentManifest, "schema.invalid");
	const told = new Set(problems.map((problem) => problem.pointer));
	return [...problems, ...(whole.ok ? [] : whole.problems.filter((problem) => !told.has(problem.pointer)))];
}

type Wishes = Pick<Repository, "request" | "secrets" | "state" | "isolation">;

/** The parts of the manifest that can be read; what cannot is left out here and reported by {@link shapeProblems}. */
function wishesOf(manifest: unknown): Wishes {
	const asked = recordOf(memberOf(manifest, "x-mortise"));
	const request: Record<string, unknown> = {};
	for (const [key, schema] of Object.entries(RepositoryRequest.shape)) {
		const parsed = schema.safeParse(memberOf(asked, key));
		if (parsed.success && parsed.data !== undefined) request[key] = parsed.data;
	}
	const secrets = memberOf(manifest, "secrets");
	const publication = memberOf(manifest, "state_publication");
	const target = memberOf(publication, "target");
	const path = memberOf(publication, "path");
	const isolation = IsolationProfile.safeParse(memberOf(manifest, "isolation_profile"));
	return {
		// each member passed its own schema
		request: request as RepositoryRequest,
		secrets: Array.isArray(secrets) ? [...new Set(secrets.filter((name) => SecretName.safeParse(name).success))] : [],
		state: {
			...(typeof target === "string" ? { target } : {}),
			...(typeof path === "string" ? { path } : {}),
		},
		...(isolation.success ? { isolation: isolation.data } : {}),
	};
}

type Instructions = { readonly text?: string; readonly path?: string; readonly problems: readonly Problem[] };

async function readInstructions(
	root: string,
	path: string | undefined,
	document: PlacedDocument,
): Promise<Instructions> {
	if (path === undefined) return { problems: [] };
	const place = placeOf(document, ["x-mortise", "instructions"]);
	const read = await readInside({ root, path, maxBytes: maxInstructionsBytes });
	if (!read.ok) return { problems: [problemOf(codeOf(read.kind), place, { path, detail: read.detail })] };
	try {
		const text = new TextDecoder("utf-8", { fatal: true }).decode(read.bytes);
		return { text, path: read.path, problems: [] };
	} catch {
		return {
			path: read.path,
			problems: [problemOf("repository.unusable", place, { path, detail: "it is not UTF-8" })],
		};
	}
}

async function checkState(request: {
	readonly root: string;
	readonly state: Repository["state"];
	readonly document: PlacedDocument;
	readonly options: ReadRepositoryOptions;
	/** The real path of the instructions file. */
	readonly taken: string | undefined;
}): Promise<{ readonly state: Repository["state"]; readonly problems: readonly Problem[] }> {
	const { root, document, options, taken } = request;
	const target = request.state.target;
	const path = request.state.path ?? (target === "file" ? defaultStatePath : undefined);
	if (path === undefined) return { state: request.state, problems: [] };
	const place = placeOf(document, ["state_publication", "path"]);
	const located = await locateInside(root, path);
	const without = target === undefined ? {} : { target };
	if (!located.ok) {
		return { state: without, problems: [problemOf(codeOf(located.kind), place, { path, detail: located.detail })] };
	}
	const manifest = await locateInside(root, manifestPath);
	const own = located.path === taken || (manifest.ok && located.path === manifest.path);
	const { checkStatePath: check = checkStatePath } = options;
	const detail = own
		? "it is the agent's own manifest or instructions"
		: target === "file"
			? faultOf(await check({ root, path }))
			: undefined;
	if (detail !== undefined)
		return { state: without, problems: [problemOf("repository.unusable", place, { path, detail })] };
	return { state: { ...without, path }, problems: [] };
}

function faultOf(checked: Awaited<ReturnType<CheckStatePath>>): string | undefined {
	return checked.ok ? undefined : checked.error.message;
}

function codeOf(kind: "outside" | "unusable" | "missing") {
	return kind === "outside" ? "repository.outside" : "repository.unusable";
}

function placeOf(document: PlacedDocument, path: readonly string[], key = false) {
	return { file: document.file, ...document.at(path, key), pointer: pointerOf(path) };
}

function memberOf(value: unknown, name: string): unknown {
	const record = recordOf(value);
	return Object.hasOwn(record, name) ? record[name] : undefined;
}

function recordOf(value: unknown): Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
