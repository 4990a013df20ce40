import type { IsolationProfile } from "@mortise/sdk/contract";
import type { ProbedProfile, Strength } from "../contract/index.js";

/** What one isolation profile is (DESIGN section 8). */
export type Profile = {
	readonly profile: IsolationProfile;
	readonly strength: Strength;
	/** What it can hold: plugins by their runtime, or the host's own code. */
	readonly runtimes: readonly ("wasm" | "esm" | "native")[];
	readonly what: string;
	readonly stops: readonly string[];
	readonly doesNotStop: readonly string[];
	/** Whether this version of Mortise can run plugins under it at all; whether this machine can is the probe's answer. */
	readonly implemented: boolean;
};

/** A probed profile with what is published of it under `x-isolation`. */
export type DescribedProfile = ProbedProfile & Pick<Profile, "strength" | "stops" | "doesNotStop">;

const ambient = "reading or writing files, opening sockets, starting processes, reading the environment";
const language: Pick<Profile, "strength" | "stops" | "doesNotStop" | "implemented"> = {
	strength: "language",
	stops: [
		ambient,
		"calling a host function that was not granted",
		"endless loops, at the cpu limit and at the deadline",
		"memory beyond its limit",
		"reaching the host's objects, other plugins or an earlier call",
	],
	doesNotStop: [
		"faults in V8's WebAssembly or in the engine: it shares the host's process",
		"side channels such as timing",
		"holding its thread up to the cpu limit",
	],
	implemented: true,
};
const os: Pick<Profile, "strength" | "stops" | "doesNotStop" | "implemented"> = {
	strength: "os",
	stops: [ambient, "seeing other processes", "harming the host's memory through a fault in the engine"],
	doesNotStop: ["faults in the kernel it shares with the host", "side channels such as timing"],
	implemented: false,
};

const profiles: { readonly [name in IsolationProfile]: Profile } = {
	"in-process": {
		profile: "in-process",
		strength: "none",
		runtimes: ["native"],
		what: "the host's own code, and code of a program that embeds it",
		stops: ["errors that it throws: they are caught"],
		doesNotStop: ["anything else: it is the host"],
		implemented: true,
	},
	"worker-thread": {
		profile: "worker-thread",
		strength: "containment",
		runtimes: ["esm"],
		what: "the module in a thread of its own",
		stops: ["endless loops", "a full JavaScript heap", "blocking the host's own thread"],
		doesNotStop: ["reading the host's memory and environment", "files and network", "memory outside the heap"],
		implemented: false,
	},
	"restricted-process": {
		profile: "restricted-process",
		strength: "seat-belt",
		runtimes: ["esm"],
		what: "a process of an unprivileged user under Node's permission model, with resource limits",
		stops: [
			"crashes of the host",
			"the host's environment",
			"most file access and new processes",
			"memory beyond its limit",
		],
		doesNotStop: [
			"the network before Node 25",
			"files that any user may read",
			"code written to get around the permission model",
		],
		implemented: false,
	},
	"wasm-js": {
		profile: "wasm-js",
		runtimes: ["esm"],
		what: "the module inside QuickJS compiled to WebAssembly, a fresh engine for each call",
		...language,
	},
	wasm: {
		profile: "wasm",
		runtimes: ["wasm"],
		what: "a WebAssembly instance of its own for each call, linked to what was granted and nothing else",
		...language,
	},
	"sandbox-process": {
		profile: "sandbox-process",
		runtimes: ["wasm", "esm"],
		what: "an unprivileged process in namespaces of its own, with a system-call filter and resource limits",
		...os,
	},
	container: {
		profile: "container",
		runtimes: ["wasm", "esm"],
		what: "a container of an OCI runtime with a root filesystem pinned by digest, a system-call filter and cgroup limits",
		...os,
	},
};

/** What a profile is, what it stops and what it does not. */
export function describeProfile(profile: IsolationProfile): Profile {
	return profiles[profile];
}

/** Probe results with what is published of each under `x-isolation`, in the order given. */
export function describeProbed(probed: readonly ProbedProfile[]): readonly DescribedProfile[] {
	return probed.map((each) => {
		const { strength, stops, doesNotStop } = profiles[each.profile];
		return { ...each, strength, stops, doesNotStop };
	});
}
