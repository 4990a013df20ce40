import type { JsonObject } from "@mortise/sdk/contract";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PlannedTool, PolicySettings } from "../../src/contract/index.js";
import {
	type Approver,
	createAllowances,
	decide,
	filterTools,
	type GateInput,
	resolvePolicy,
	type ToolLists,
} from "../../src/policy/index.js";
import { aTool } from "../tools/builders.js";

type Setting = {
	tool?: PlannedTool;
	known?: boolean;
	policy?: PolicySettings;
	tools?: ToolLists;
	arguments?: JsonObject;
} & Partial<Pick<GateInput, "approver" | "allowances" | "schemaCheck" | "signal" | "call">>;

const plugin = (more: Parameters<typeof aTool>[1] = {}): PlannedTool => aTool("act", { bundle: "acme.a", ...more });
const input = (setting: Setting = {}): GateInput => {
	const tool = setting.tool ?? plugin();
	return {
		policy: resolvePolicy(setting.policy, setting.tools),
		tool: setting.known === false ? undefined : tool,
		call: setting.call ?? { id: "call-1", name: tool.name, arguments: setting.arguments ?? {} },
		schemaCheck: setting.schemaCheck ?? (() => []),
		agent: "helper",
		session: "s1",
		turn: "t1",
		allowances: setting.allowances ?? createAllowances(),
		clock: () => Date.parse("2030-01-01T00:00:00Z"),
		...(setting.approver === undefined ? {} : { approver: setting.approver }),
		...(setting.signal === undefined ? {} : { signal: setting.signal }),
	};
};
const says = (answer: "allow" | "deny" | "allow-always"): Approver & { asked: number } => {
	const approver = Object.assign(
		async () => {
			approver.asked += 1;
			return answer;
		},
		{ asked: 0 },
	);
	return approver;
};
const ruling = async (setting: Setting): Promise<string> => {
	const { allowed, rule } = await decide(input(setting));
	return `${allowed ? "allow" : "deny"} ${rule}`;
};

describe("R110 the policy", () => {
	it("is supervised with nothing approved unless the operator says otherwise, and frozen", () => {
		const policy = resolvePolicy(undefined, undefined);
		expect(policy).toEqual({ autonomy: "supervised", deny: [], alwaysAsk: [], autoApprove: [] });
		const full = resolvePolicy(
			{ autonomy: "full", workspace: "w", auto_approve: ["a"] },
			{ allow: ["a"], deny: ["b"] },
		);
		for (const part of [full, full.allow, full.deny, full.autoApprove, full.alwaysAsk])
			expect(Object.isFrozen(part)).toBe(true);
	});

	it("R118 takes an absent allow as all, an empty one as none, and always subtracts deny", () => {
		const tools = ["a", "b"].map((name) => aTool(name));
		const names = (lists: ToolLists): string[] =>
			filterTools(resolvePolicy(undefined, lists), tools).map((tool) => tool.name);
		expect(names({})).toEqual(["a", "b"]);
		expect(names({ allow: [] })).toEqual([]);
		expect(names({ allow: ["a", "A", "z"] })).toEqual(["a"]);
		expect(names({ deny: ["a"] })).toEqual(["b"]);
		expect(names({ allow: ["a"], deny: ["a"] })).toEqual([]);
	});
});

describe("R111 the gate alone", () => {
	it("denies a tool nobody knows, also under another name than the call's", async () => {
		expect(await ruling({ known: false, policy: { autonomy: "full" } })).toBe("deny unknown-tool");
		expect(await ruling({ call: { id: "1", name: "other", arguments: {} }, policy: { autonomy: "full" } })).toBe(
			"deny unknown-tool",
		);
	});

	it("R119 denies what the lists exclude, although the tool is there and autonomy is full", async () => {
		const policy: PolicySettings = { autonomy: "full", auto_approve: ["act"] };
		expect(await ruling({ policy, tools: { deny: ["act"] } })).toBe("deny tool-not-allowed");
		expect(await ruling({ policy, tools: { allow: [] } })).toBe("deny tool-not-allowed");
		expect(await ruling({ policy, tools: { allow: ["act"] } })).toBe("allow full");
	});

	it("denies arguments that do not fit, with the reasons for the model, before a person is asked", async () => {
		const approver = says("allow");
		const decision = await decide(input({ schemaCheck: () => ["/city must be string"], approver }));
		expect(decision).toMatchObject({
			allowed: false,
			rule: "arguments",
			reason: expect.stringContaining("/city must be string"),
		});
		expect(approver.asked).toBe(0);
	});

	it("takes a model's own approval out of the arguments, before they are checked, asked about and run", async () => {
		const seen: unknown[] = [];
		const decision = await decide(
			input({
				arguments: { approved: true, city: "Lisbon", nested: { approved: 1 } },
				schemaCheck: (_tool, value) => {
					seen.push(value);
					return [];
				},
				approver: async (question) => {
					seen.push(question.arguments);
					return "allow";
				},
			}),
		);
		const clean = { city: "Lisbon", nested: { approved: 1 } };
		expect(seen).toEqual([clean, clean]);
		expect(decision).toMatchObject({ allowed: true, arguments: clean });
		expect(await ruling({ arguments: { approved: true } })).toBe("deny no-approver");
	});

	it("runs what was judged, although the call is changed while a person thinks", async () => {
		const call = { id: "1", name: "act", arguments: { path: "harmless" } };
		const decision = await decide(
			input({
				call,
				approver: async () => {
					call.arguments.path = "harmful";
					return "allow";
				},
			}),
		);
		expect(decision).toMatchObject({ allowed: true, arguments: { path: "harmless" } });
	});

	it("does not let the approver change what runs", async () => {
		const approver: Approver = async (question) => {
			Object.assign(question.arguments, { path: "harmful" });
			return "allow";
		};
		expect(await ruling({ arguments: { path: "harmless" }, approver })).toBe("deny approver-failed");
	});
});

describe("autonomy", () => {
	it("full allows without asking", async () => {
		expect(await ruling({ policy: { autonomy: "full", always_ask: ["act"] } })).toBe("allow full");
	});

	it("read-only refuses acts, whoever would approve them", async () => {
		const policy: PolicySettings = { autonomy: "read-only", auto_approve: ["act"] };
		const approver = says("allow");
		for (const effects of [
			["write"],
			["network"],
			["spend"],
			["execute"],
			["read", "write"],
			[],
		] as PlannedTool["effects"][]) {
			expect(await ruling({ policy, tool: plugin({ effects }), approver }), effects.join()).toBe("deny read-only");
			expect(await ruling({ policy, tool: aTool("act", { effects }), approver }), effects.join()).toBe(
				"deny read-only",
			);
		}
		expect(approver.asked).toBe(0);
	});

	it("read-only runs a native reading tool, and asks first where the operator wants that", async () => {
		const tool = aTool("look", { effects: ["read"] });
		expect(await ruling({ policy: { autonomy: "read-only" }, tool })).toBe("allow native-read");
		expect(await ruling({ policy: { autonomy: "read-only", always_ask: ["look"] }, tool })).toBe("deny no-approver");
	});

	it("read-only never runs a bundle's tool on the bundle's word alone", async () => {
		const tool = plugin({ effects: ["read"] });
		expect(await ruling({ policy: { autonomy: "read-only" }, tool })).toBe("deny no-approver");
		expect(await ruling({ policy: { autonomy: "read-only", auto_approve: ["act"] }, tool })).toBe("allow auto-approve");
		expect(await ruling({ policy: { autonomy: "read-only" }, tool, approver: says("allow") })).toBe("allow approved");
	});
});

describe("approval", () => {
	it("denies what is listed nowhere when nobody can be asked, and says that no person decided", async () => {
		const decision = await decide(input());
		expect(decision).toMatchObject({ allowed: false, rule: "no-approver", record: { by: "nobody", decision: "deny" } });
		expect(decision.allowed ? "" : decision.reason).toContain("no person");
	});

	it("allows what is auto-approved without asking, exactly by name", async () => {
		const approver = says("deny");
		expect(await ruling({ policy: { auto_approve: ["act"] }, approver })).toBe("allow auto-approve");
		expect(approver.asked).toBe(0);
		expect(await ruling({ policy: { auto_approve: ["Act", "ac", "act "] }, approver })).toBe("deny denied");
	});

	it("always_ask asks before auto_approve and before what a person allowed", async () => {
		const allowances = createAllowances();
		const policy: PolicySettings = { always_ask: ["act"], auto_approve: ["act"] };
		const approver = says("allow-always");
		for (let round = 1; round <= 2; round += 1) {
			expect(await ruling({ policy, allowances, approver })).toBe("allow approved");
			expect(approver.asked).toBe(round);
		}
		expect(await ruling({ allowances })).toBe("deny no-approver");
	});

	it("asks once for a session when a person allows always, and each time otherwise", async () => {
		const allowances = createAllowances();
		const approver = says("allow");
		expect(await ruling({ allowances, approver })).toBe("allow approved");
		expect(await ruling({ allowances })).toBe("deny no-approver");
		expect(await ruling({ allowances, approver: says("allow-always") })).toBe("allow approved");
		expect(await ruling({ allowances })).toBe("allow session-allowance");
		expect(await ruling({})).toBe("deny no-approver");
	});

	it("does not carry an allowance over to a tool of the same name from elsewhere", async () => {
		const allowances = createAllowances();
		await decide(input({ allowances, approver: says("allow-always") }));
		expect(await ruling({ allowances, tool: plugin({ bundle: "acme.b" }) })).toBe("deny no-approver");
		expect(await ruling({ allowances, tool: aTool("act") })).toBe("deny no-approver");
	});

	it("denies when a person does, when asking breaks, and when the answer is none", async () => {
		expect(await ruling({ approver: says("deny") })).toBe("deny denied");
		expect(await ruling({ approver: async () => Promise.reject(new Error("gone")) })).toBe("deny approver-failed");
		expect(
			await ruling({
				approver: () => {
					throw new Error("gone");
				},
			}),
		).toBe("deny approver-failed");
		for (const answer of ["yes", "", true, undefined, { allowed: true }]) {
			expect(await ruling({ approver: async () => answer as "allow" })).toBe("deny approver-failed");
		}
	});

	it("ends when the turn is cancelled, although the person never answers", async () => {
		const controller = new AbortController();
		const pending = ruling({ approver: () => new Promise(() => controller.abort()), signal: controller.signal });
		expect(await pending).toBe("deny cancelled");
		const approver = says("allow");
		expect(await ruling({ approver, signal: AbortSignal.abort() })).toBe("deny cancelled");
		expect(approver.asked).toBe(0);
	});
});

describe("R112 the record", () => {
	it("says who, what and why, and no argument", async () => {
		const { record } = await decide(input({ arguments: { secret: "canary" }, policy: { autonomy: "full" } }));
		expect(record).toEqual({
			at: "2030-01-01T00:00:00.000Z",
			agent: "helper",
			session: "s1",
			turn: "t1",
			call: "call-1",
			tool: "act",
			origin: "plugin",
			bundle: "acme.a",
			decision: "allow",
			rule: "full",
			by: "policy",
		});
	});

	it("bounds and escapes the texts of a model", async () => {
		const call = { id: "\u001b[2J".repeat(1000), name: "x\n".repeat(1000), arguments: {} };
		const { record } = await decide(input({ known: false, call }));
		expect(record).toMatchObject({ origin: "unknown", decision: "deny" });
		expect(record.call.length + record.tool.length).toBeLessThan(200);
		expect(record.call + record.tool).not.toMatch(/\p{Cc}/u);
	});

	it("denies when judging breaks", async () => {
		const schemaCheck = (): never => {
			throw new Error("broken");
		};
		expect(await ruling({ schemaCheck, policy: { autonomy: "full" } })).toBe("deny gate-failed");
		const circular: { [key: string]: unknown } = { run: () => 1 };
		expect(await ruling({ arguments: circular as JsonObject, policy: { autonomy: "full" } })).toBe("deny gate-failed");
	});
});

describe("for any policy and tool", () => {
	const names = fc.subarray(["act", "other"]);
	const settings = fc.record({
		autonomy: fc.constantFrom<"read-only" | "supervised" | "full">("read-only", "supervised", "full"),
		always_ask: names,
		auto_approve: names,
	});
	const effects = fc.subarray(["network", "read", "write", "spend", "execute"] as const);
	const answer = fc.constantFrom<"allow" | "deny" | "none">("allow", "deny", "none");

	it("R117 a bundle's hint of an effect, other than read alone, never opens what was closed without it", async () => {
		await fc.assert(
			fc.asyncProperty(settings, effects, answer, async (policy, some, said) => {
				const approver = said === "none" ? {} : { approver: says(said) };
				const plain = await ruling({ policy, tool: plugin({ effects: [] }), ...approver });
				const hinted = await ruling({ policy, tool: plugin({ effects: some }), ...approver });
				if (hinted.startsWith("allow") && plain.startsWith("deny")) {
					expect(some).toEqual(["read"]);
					expect(hinted).toMatch(/auto-approve|approved/);
				}
			}),
			{ numRuns: 300 },
		);
	});

	it("R119 a tool that is not allowed never runs, and nothing runs unasked that is not listed or full", async () => {
		await fc.assert(
			fc.asyncProperty(
				settings,
				effects,
				names,
				fc.option(names, { nil: undefined }),
				answer,
				fc.boolean(),
				async (policy, some, deny, allow, said, native) => {
					const tool = native ? aTool("act", { effects: some }) : plugin({ effects: some });
					const approver = says(said === "allow" ? "allow" : "deny");
					const decided = await decide(
						input({ policy, tool, tools: { deny, allow }, ...(said === "none" ? {} : { approver }) }),
					);
					if (deny.includes("act") || (allow !== undefined && !allow.includes("act")))
						expect(decided.allowed).toBe(false);
					if (!decided.allowed) return;
					const unasked = approver.asked === 0;
					const nativeRead = native && some.join() === "read" && policy.autonomy === "read-only";
					if (unasked)
						expect(policy.autonomy === "full" || policy.auto_approve.includes("act") || nativeRead).toBe(true);
					if (policy.autonomy === "read-only") expect(some).toEqual(["read"]);
					if (policy.autonomy !== "full" && policy.always_ask.includes("act")) expect(unasked).toBe(false);
				},
			),
			{ numRuns: 500 },
		);
	});
});
