import { describe, expect, it } from "vitest";
import { underDeadline } from "../../src/engine/watchdog.js";

const spin = () => {
	for (;;);
};

describe("underDeadline", () => {
	it("gives what a stretch returns, and how long it held the thread", () => {
		const outcome = underDeadline(1000, () => 7);
		expect(outcome).toMatchObject({ ok: true, value: 7 });
		expect(outcome.cpuMs).toBeLessThan(10_000);
	});

	it("ends an endless loop at its deadline, again and again", () => {
		for (let round = 0; round < 5; round += 1) {
			const outcome = underDeadline(20, spin);
			expect(outcome).toMatchObject({ ok: false, timedOut: true });
			expect(outcome.cpuMs).toBeGreaterThanOrEqual(19);
			expect(outcome.cpuMs).toBeLessThan(10_000);
		}
	});

	it("ends a blocking wait", () => {
		const cell = new Int32Array(new SharedArrayBuffer(4));
		expect(underDeadline(20, () => Atomics.wait(cell, 0, 0))).toMatchObject({ ok: false, timedOut: true });
	});

	it("throws on what a stretch throws, also when it looks like the watchdog's own error", () => {
		expect(() =>
			underDeadline(1000, () => {
				throw new TypeError("mine");
			}),
		).toThrow(TypeError);
		const likeOurs = Object.assign(new Error("mine"), { code: "ERR_SCRIPT_EXECUTION_TIMEOUT" });
		expect(() =>
			underDeadline(1000, () => {
				throw likeOurs;
			}),
		).toThrow(likeOurs);
	});

	it("begins nothing without time left", () => {
		let ran = false;
		const run = () => {
			ran = true;
		};
		for (const timeoutMs of [0, -5, Number.NaN]) {
			expect(underDeadline(timeoutMs, run)).toEqual({ ok: false, timedOut: true, cpuMs: 0 });
		}
		expect(ran).toBe(false);
		expect(underDeadline(1e12, () => 1)).toMatchObject({ ok: true });
	});

	it("nests: the inner deadline ends the inner stretch, the outer one ends both", () => {
		const inner = underDeadline(1000, () => [underDeadline(20, spin), underDeadline(1000, () => "on")]);
		expect(inner).toMatchObject({ ok: true, value: [{ ok: false }, { ok: true, value: "on" }] });
		let after = false;
		const outer = underDeadline(30, () => {
			underDeadline(5000, spin);
			after = true;
		});
		expect(outer).toMatchObject({ ok: false, timedOut: true });
		expect(after).toBe(false);
		expect(underDeadline(1000, () => 1)).toMatchObject({ ok: true, value: 1 });
	});
});
