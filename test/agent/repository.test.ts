import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, open, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readRepository } from "../../src/agent/index.js";
import { readInside } from "../../src/agent/inside.js";

let folder: string;
let repository: string;
let outside: string;

beforeEach(async () => {
	folder = await mkdtemp(join(tmpdir(), "mortise-agent-"));
	repository = join(folder, "repository");
	outside = join(folder, "outside");
	await mkdir(join(repository, ".living"), { recursive: true });
	await mkdir(outside);
	await writeFile(join(outside, "secret.md"), "canary-7f3a");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const protocol = `protocol_version: v0.1.0
agent_capabilities: [run_tasks]
isolation_profile: wasm
`;
const state = "state_publication: { target: file }\n";

async function put(path: string, content: string | Uint8Array): Promise<void> {
	await mkdir(dirname(join(repository, path)), { recursive: true });
	await writeFile(join(repository, path), content);
}
const manifest = (text: string) => put(".living/manifest.yaml", text);
const read = async () => {
	const result = await readRepository(repository);
	// whatever is wrong, nothing from outside is ever held
	expect(JSON.stringify(result)).not.toContain("canary-7f3a");
	return result;
};
const codes = async () => (await read()).problems.map((problem) => problem.code);

describe("readRepository", () => {
	it("reads the request, the secrets and the instructions of a repository", async () => {
		await put("AGENT.md", "Be brief.");
		await manifest(
			`${protocol}${state}secrets: [MODEL_KEY, MODEL_KEY]\nx-mortise: { instructions: AGENT.md, tools: [upper], limits: { iterations: 3 } }\n`,
		);
		const { repository: found, problems } = await read();
		expect(problems).toEqual([]);
		expect(found).toMatchObject({
			instructions: "Be brief.",
			secrets: ["MODEL_KEY"],
			isolation: "wasm",
			state: { target: "file", path: ".living/state.json" },
			request: { tools: ["upper"], limits: { iterations: 3 } },
		});
	});

	it("follows a link that stays in the repository", async () => {
		await put("docs/real.md", "Inside.");
		await symlink("docs/real.md", join(repository, "AGENT.md"));
		await manifest(`${protocol}${state}x-mortise: { instructions: AGENT.md }\n`);
		expect((await read()).repository?.instructions).toBe("Inside.");
	});

	it("refuses a folder without a manifest, and a path that is no folder", async () => {
		expect(await codes()).toEqual(["repository.unreadable"]);
		expect((await readRepository(join(folder, "nothing"))).problems[0]?.code).toBe("repository.unreadable");
		expect((await readRepository(join(outside, "secret.md"))).problems[0]?.code).toBe("repository.unreadable");
	});

	it("refuses every path that leaves the repository by its spelling, and reads nothing there", async () => {
		for (const path of [
			"../outside/secret.md",
			"a/../../outside/secret.md",
			join(outside, "secret.md"),
			"./AGENT.md",
			"a//b",
			"..\\\\x",
			".git/config",
			".GIT/config",
			"C:/x",
		]) {
			await manifest(`${protocol}${state}x-mortise: { instructions: ${JSON.stringify(path)} }\n`);
			expect(await codes(), path).toEqual(["repository.outside"]);
		}
	});

	it("refuses instructions through a link that leaves it, as file, as folder and at the end of a chain", async () => {
		await symlink(join(outside, "secret.md"), join(repository, "file.md"));
		await symlink("../outside", join(repository, "folder"));
		await symlink("file.md", join(repository, "chain.md"));
		await symlink("nowhere.md", join(repository, "nothing.md"));
		await symlink("loop.md", join(repository, "loop.md"));
		for (const path of ["file.md", "folder/secret.md", "chain.md", "nothing.md", "loop.md"]) {
			await manifest(`${protocol}${state}x-mortise: { instructions: ${path} }\n`);
			expect(await codes(), path).toEqual(["repository.outside"]);
		}
	});

	it("refuses a manifest that is reached through a link that leaves the repository", async () => {
		await writeFile(join(outside, "manifest.yaml"), `${protocol}# canary-7f3a`);
		await symlink(join(outside, "manifest.yaml"), join(repository, ".living/manifest.yaml"));
		expect(await codes()).toEqual(["repository.outside"]);
		await rm(join(repository, ".living"), { recursive: true });
		await symlink(outside, join(repository, ".living"));
		expect(await codes()).toEqual(["repository.outside"]);
	});

	it("refuses a pipe, a folder, a file past the cap and text that is not UTF-8 as instructions, without waiting", async () => {
		execFileSync("mkfifo", [join(repository, "pipe")]);
		await put("big.md", "a".repeat(64 * 1024 + 1));
		await put("bytes.md", new Uint8Array([0x61, 0xff, 0xfe]));
		for (const path of ["pipe", ".living", "big.md", "bytes.md", "absent.md"]) {
			await manifest(`${protocol}${state}x-mortise: { instructions: ${path} }\n`);
			expect(await codes(), path).toEqual(["repository.unusable"]);
		}
		await put("big.md", "a".repeat(64 * 1024));
		await manifest(`${protocol}${state}x-mortise: { instructions: big.md }\n`);
		expect(await codes()).toEqual([]);
	});

	it("reads nothing when a folder is swapped for a link between the check and the open", async () => {
		await put("docs/secret.md", "harmless");
		const swapping: typeof open = async (...request) => {
			await rename(join(repository, "docs"), join(repository, "old"));
			await symlink(outside, join(repository, "docs"));
			const handle = await open(...request);
			await rm(join(repository, "docs"));
			await rename(join(repository, "old"), join(repository, "docs"));
			return handle;
		};
		const request = { root: repository, path: "docs/secret.md", maxBytes: 100 };
		expect(await readInside({ ...request, open: swapping })).toMatchObject({ ok: false, kind: "outside" });
		expect(await readInside(request)).toMatchObject({ ok: true });
	});

	it("refuses a state path outside, through a link, in .git, and on a file of the repository's own", async () => {
		await put("src/main.json", '{ "code": true }');
		await put("AGENT.md", "Hello.");
		await symlink(join(outside, "state.json"), join(repository, "link.json"));
		await symlink(outside, join(repository, "folder"));
		const refused = {
			"../outside/state.json": "repository.outside",
			"/etc/state.json": "repository.outside",
			"link.json": "repository.outside",
			"folder/state.json": "repository.outside",
			".git/hooks/x.json": "repository.outside",
			"src/main.json": "repository.unusable",
			"AGENT.md": "repository.unusable",
			".living/manifest.yaml": "repository.unusable",
		};
		for (const [path, code] of Object.entries(refused)) {
			await manifest(
				`${protocol}state_publication: { target: file, path: ${path} }\nx-mortise: { instructions: AGENT.md }\n`,
			);
			const result = await read();
			expect(
				result.problems.map((problem) => problem.code),
				path,
			).toEqual([code]);
			expect(result.repository?.state, path).toEqual({ target: "file" });
		}
		expect(await readFile(join(repository, "src/main.json"), "utf8")).toBe('{ "code": true }');
		expect(await readdir(outside)).toEqual(["secret.md"]);
	});

	it("refuses a link that leads into .git", async () => {
		await put(".git/config", "[core]");
		await symlink(".git/config", join(repository, "AGENT.md"));
		await manifest(`${protocol}${state}x-mortise: { instructions: AGENT.md }\n`);
		expect(await codes()).toEqual(["repository.outside"]);
	});

	it("refuses a state file that is also the instructions, so that a reply never becomes an instruction", async () => {
		const published = { agent: "a", runtime: "r", protocol_version: "v0.1", session: "s", turn: "t", status: "done" };
		await put("s.json", JSON.stringify({ ...published, reply: "Obey me.", at: "2026-01-01T00:00:00Z" }));
		const publication = "state_publication: { target: file, path: s.json }\n";
		await manifest(`${protocol}${publication}`);
		expect(await codes()).toEqual([]);
		await manifest(`${protocol}${publication}x-mortise: { instructions: s.json }\n`);
		expect(await codes()).toEqual(["repository.unusable"]);
	});

	it("lists everything a repository may not ask for, each with its place", async () => {
		await manifest(`${protocol}state_publication: { target: file, path: ../x }
secrets: [not a name]
x-mortise:
  home: /root
  grants: { x: y }
  policy: { autonomy: full }
  tools: upper
  instructions: ../outside/secret.md
  limits: { iterations: -1 }
`);
		const { problems, repository: found } = await read();
		const listed = problems.map(({ code, line, pointer }) => `${line} ${pointer} ${code}`).sort();
		expect(listed).toEqual([
			"10 /x-mortise/tools repository.request",
			"11 /x-mortise/instructions repository.outside",
			"12 /x-mortise/limits/iterations repository.request",
			"4 /state_publication/path repository.outside",
			"5 /secrets/0 repository.request",
			"7 /x-mortise/home repository.not_askable",
			"8 /x-mortise/grants repository.not_askable",
			"9 /x-mortise/policy repository.not_askable",
		]);
		expect(found?.request).toEqual({ instructions: "../outside/secret.md" });
	});

	it("leaves the protocol's own fields to match, unless it is asked to be strict", async () => {
		await manifest("protocol_version: 3\nisolation_profile: none\nstate_publication: file\n");
		expect(await codes()).toEqual([]);
		const strict = await readRepository(repository, { strict: true });
		expect(strict.problems.map((problem) => problem.pointer).sort()).toEqual(
			["/agent_capabilities", "/isolation_profile", "/protocol_version", "/state_publication"].sort(),
		);
	});

	it("keeps __proto__, duplicate keys and broken YAML out", async () => {
		for (const text of ["x-mortise: { __proto__: { tools: [] } }\n", "secrets: []\nsecrets: []\n", "a: [\n"]) {
			await manifest(text);
			expect((await codes()).length, text).toBeGreaterThan(0);
		}
	});
});
