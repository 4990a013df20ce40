// What the stories share: the built command line, run as a person would, in a home folder of its own.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url));

/** Runs the story with `mortise(...args)`; exits 0 when every assertion held, 1 otherwise. */
export async function story(tell) {
	const home = mkdtempSync(join(tmpdir(), "mortise-story-"));
	const mortise = (...args) => {
		console.log(`$ mortise ${args.join(" ")}`);
		// run where no mortise.yaml lies, so that the embedded default is in force
		const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args, "--home", home], {
			encoding: "utf8",
			cwd: home,
		});
		if (stdout !== "") console.log(stdout.trimEnd());
		if (stderr !== "") console.log(stderr.trimEnd());
		return { status, stdout, stderr, json: () => JSON.parse(stdout) };
	};
	try {
		await tell(mortise, home);
		console.log("ok");
	} catch (error) {
		console.error(error);
		process.exitCode = 1;
	} finally {
		rmSync(home, { recursive: true, force: true });
	}
}
