import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Message, text } from "@mortise/sdk/contract";
import { describe, expect, it } from "vitest";
import { createHistory } from "../../src/agent/index.js";
import { openDatabase } from "../../src/database.js";

const user = (value: string): Message => ({ role: "user", content: text(value) });
const assistant = (value: string): Message => ({ role: "assistant", content: text(value) });

describe("createHistory", () => {
	it("gives back a session's messages in order, also after the database was closed", async () => {
		const folder = await mkdtemp(join(tmpdir(), "mortise-history-"));
		try {
			const path = join(folder, "state.db");
			const first = openDatabase(path);
			const history = createHistory(first, { now: () => 0 });
			history.append({ session: "s", agent: "helper", turn: "t1", messages: [user("1"), assistant("2")] });
			history.append({ session: "s", agent: "helper", turn: "t2", messages: [user("3")] });
			first.close();
			const second = openDatabase(path);
			expect(createHistory(second).load("s")).toEqual({
				agent: "helper",
				turns: 2,
				messages: [user("1"), assistant("2"), user("3")],
			});
			second.close();
		} finally {
			await rm(folder, { recursive: true });
		}
	});

	it("refuses a session that belongs to another agent, and adds nothing to it", () => {
		const history = createHistory(openDatabase(":memory:"));
		history.append({ session: "s", agent: "helper", turn: "t1", messages: [user("1")] });
		const other = { session: "s", agent: "repo:abc", turn: "t2", messages: [user("2")] };
		expect(() => history.check("s", "repo:abc")).toThrow(expect.objectContaining({ code: "session.other_agent" }));
		expect(() => history.append(other)).toThrow(expect.objectContaining({ code: "session.other_agent" }));
		expect(history.load("s")?.messages).toEqual([user("1")]);
	});

	it("keeps all of a turn or nothing", () => {
		const history = createHistory(openDatabase(":memory:"));
		const cycle: Record<string, unknown> = {};
		cycle.self = cycle;
		const broken = [user("1"), cycle as unknown as Message];
		expect(() => history.append({ session: "s", agent: "helper", turn: "t", messages: broken })).toThrow();
		expect(history.load("s")).toBeUndefined();
	});

	it("lists sessions, the last used first, and refuses ids that are no plain word", () => {
		let clock = 0;
		const tick = () => {
			clock += 1000;
			return clock;
		};
		const history = createHistory(openDatabase(":memory:"), { now: tick });
		for (const session of ["one", "two", "one"]) history.append({ session, agent: "helper", turn: "t", messages: [] });
		expect(history.sessions().map(({ id, turns }) => [id, turns])).toEqual([
			["one", 2],
			["two", 1],
		]);
		for (const id of ["", "../x", "a b", "x".repeat(129)]) {
			expect(() => history.load(id), id).toThrow(expect.objectContaining({ code: "session.bad_id" }));
		}
		expect(history.load(history.newId())).toBeUndefined();
	});
});
