import { describe, expect, it } from "vitest";
import { createContext, printError, usageError } from "../../src/cli/context.js";
import { createOutput } from "../../src/cli/output.js";

const hostile =
	"\u001b]0;title\u0007\u001b]52;c;ZXZpbA==\u001b\\ \u009b2J\u007f\b\r back\u202eright\u2066\r\n\ttab é 👩‍🚀\n";
const escaped =
	"\\u{1b}]0;title\\u{7}\\u{1b}]52;c;ZXZpbA==\\u{1b}\\ \\u{9b}2J\\u{7f}\\u{8}\\u{d} back\\u{202e}right\\u{2066}\n\ttab é 👩‍🚀\n";

function anOutput(terminal: { readonly stdout: boolean; readonly stderr: boolean }) {
	const written = { stdout: "", stderr: "" };
	const stream = (name: "stdout" | "stderr") => ({
		isTTY: terminal[name],
		write: (text: string) => {
			written[name] += text;
		},
	});
	return { written, output: createOutput({ stdout: stream("stdout"), stderr: stream("stderr") }) };
}

describe("what the command line writes", () => {
	it("shows a stranger's text on a terminal, where every control but line ends and tabs is escaped", () => {
		const { written, output } = anOutput({ stdout: true, stderr: true });
		output.result(hostile);
		expect(written).toEqual({ stdout: escaped, stderr: "" });
	});

	it("gives a script the result as it is", () => {
		const { written, output } = anOutput({ stdout: false, stderr: true });
		output.result(hostile);
		expect(written.stdout).toBe(hostile);
	});

	it("escapes what goes to stderr always: it is read by people, now or later", () => {
		for (const stderr of [true, false]) {
			const { written, output } = anOutput({ stdout: false, stderr });
			output.note(hostile);
			expect(written).toEqual({ stdout: "", stderr: `${escaped}\n` });
		}
	});

	it("writes JSON that holds no control and reads back as the same value", () => {
		const { written, output } = anOutput({ stdout: false, stderr: false });
		output.json({ [hostile]: hostile });
		expect(written.stdout).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
		expect(written.stdout.split("\n")).toHaveLength(2);
		expect(JSON.parse(written.stdout)).toEqual({ [hostile]: hostile });
	});

	it("logs on stderr by the same means", () => {
		const { written, output } = anOutput({ stdout: false, stderr: true });
		createContext({}, output).log.warn({ said: hostile }, hostile);
		expect(written.stdout).toBe("");
		expect(written.stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u);
		expect(JSON.parse(written.stderr)).toMatchObject({ said: hostile, msg: hostile });
	});

	it("ends a result with one line end, and writes nothing for an empty one", () => {
		const { written, output } = anOutput({ stdout: false, stderr: false });
		output.result("");
		output.result("one");
		output.result("two\n");
		expect(written.stdout).toBe("one\ntwo\n");
	});

	it("is the one way of a verb's results, progress and errors", () => {
		const { written, output } = anOutput({ stdout: true, stderr: true });
		const context = createContext({}, output);
		context.print({}, hostile);
		context.tell(hostile);
		printError(usageError("plain"), false, output);
		expect(written.stdout).toBe(escaped);
		expect(written.stderr).toContain(escaped);
		expect(written.stderr).toContain("plain [usage]");
		createContext({ json: true }, output).print({ hostile }, "");
		expect(written.stdout).toMatch(/\{"hostile":"\\u001b/);
	});
});
