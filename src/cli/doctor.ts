import { stat } from "node:fs/promises";
import { isHostError, reportOf } from "../errors.js";
import { describeProfile } from "../isolation/index.js";
import type { Runtime } from "../runtime/index.js";
import { firstPartyDigests } from "../runtime/index.js";
import { type Context, exitCodes } from "./context.js";
import { columns } from "./table.js";
import { withRuntime } from "./with-runtime.js";

type Check = { readonly name: string; readonly ok: boolean; readonly detail: string; readonly fix?: string };

/** `doctor` (DESIGN section 11): checks host, home and bundles, and attacks every isolation profile anew. */
export async function run(context: Context): Promise<number> {
	try {
		return await examine(context);
	} catch (error) {
		if (!isHostError(error)) throw error;
		// what stops every other verb is what doctor is for
		const { message, next, code } = reportOf(error);
		const check: Check = {
			name: "start",
			ok: false,
			detail: `${message} [${code}]`,
			...(next === undefined ? {} : { fix: next }),
		};
		context.print({ checks: [check], isolation: [] }, columns([rowOf(check)]));
		return exitCodes.refused;
	}
}

function examine(context: Context): Promise<number> {
	return withRuntime(
		context,
		async (runtime) => {
			const checks = await runChecks(runtime);
			const isolation = runtime.profiles.map(({ profile, provided, reason }) => ({
				profile,
				provided,
				...(reason === undefined ? {} : { reason }),
			}));
			const rows = checks.map(rowOf);
			const profiles = isolation.map((each) => [
				each.provided ? "provided" : "no",
				each.profile,
				describeProfile(each.profile).strength,
				each.reason ?? "",
			]);
			context.print({ checks, isolation }, `${columns(rows)}\n\n${columns(profiles)}`);
			return checks.every((check) => check.ok) ? exitCodes.ok : exitCodes.refused;
		},
		{ probeAgain: true },
	);
}

function rowOf(check: Check): readonly string[] {
	return [check.ok ? "ok" : "FAIL", check.name, check.detail + (check.fix === undefined ? "" : ` (${check.fix})`)];
}

async function runChecks(runtime: Runtime): Promise<readonly Check[]> {
	const { home, set } = runtime;
	const folder = await stat(home.folder);
	const isPrivate = (folder.mode & 0o077) === 0;
	const unsafe = set.notes
		.concat(set.refused.flatMap((each) => each.problems))
		.find((each) => each.code === "bundle.drop_folder_unsafe");
	const digests = await firstPartyDigests();
	const major = Number(process.versions.node.split(".")[0]);
	const refused = set.refused.filter((each) => each.state === "refused");
	return [
		{ name: "node", ok: major >= 20, detail: process.version },
		{
			name: "home",
			ok: isPrivate,
			detail: isPrivate ? "readable by you only" : "readable by others",
			...(isPrivate ? {} : { fix: `chmod 700 ${home.folder}` }),
		},
		{
			name: "drop folder",
			ok: unsafe === undefined,
			detail: unsafe?.message ?? "owned by you, writable by nobody else",
			...(unsafe?.fix === undefined ? {} : { fix: unsafe.fix }),
		},
		{
			name: "first-party bundles",
			ok: digests.size > 0,
			detail: `${digests.size} built`,
			...(digests.size > 0 ? {} : { fix: "npm run build" }),
		},
		{
			name: "bundles",
			ok: refused.length === 0,
			detail: `${set.plugins.length} loaded, ${refused.length} refused`,
			...(refused.length === 0 ? {} : { fix: "mortise plugin list" }),
		},
	];
}
