/** Where text goes: a stream of the process, or what a test puts in its place. */
export type OutputStream = { readonly isTTY?: boolean; readonly write: (text: string) => unknown };
/** The two streams of a command line. */
export type Streams = { readonly stdout: OutputStream; readonly stderr: OutputStream };

/**
 * The one way out of the command line. Text may hold what a plugin, a model or a repository wrote, so the characters a
 * terminal obeys are escaped, except where a script takes the text as it is: a result on a stdout that is no terminal.
 */
export type Output = {
	/** A result on stdout, ended by a line end; nothing for an empty text. */
	readonly result: (text: string) => void;
	/** A piece of a result, as it comes, without a line end of its own. */
	readonly piece: (text: string) => void;
	/** Whether a person looks at stdout. */
	readonly isTerminal: boolean;
	/** The one JSON value of `--json`. */
	readonly json: (value: unknown) => void;
	/** Progress and errors on stderr, one line end added. */
	readonly note: (text: string) => void;
	/** A line of the log, which is JSON, on stderr. */
	readonly logLine: (line: string) => void;
};

export function createOutput(streams: Streams = process): Output {
	const { stdout, stderr } = streams;
	return {
		result: (text) => {
			const shown = stdout.isTTY === true ? forTerminal(text) : text;
			if (shown !== "") stdout.write(shown.endsWith("\n") ? shown : `${shown}\n`);
		},
		piece: (text) => void stdout.write(stdout.isTTY === true ? forTerminal(text) : text),
		isTerminal: stdout.isTTY === true,
		json: (value) => void stdout.write(`${forJson(JSON.stringify(value))}\n`),
		// always: a log of stderr is looked at on a terminal later
		note: (text) => void stderr.write(`${forTerminal(text)}\n`),
		logLine: (line) => void stderr.write(forJson(line)),
	};
}

/** C0, DEL, C1 and the controls of writing direction; line ends and tabs are how text is laid out. */
const obeyed = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu;

/** Text that a terminal shows and does not obey. */
function forTerminal(text: string): string {
	return text.replaceAll("\r\n", "\n").replace(obeyed, (character) => `\\u{${codeOf(character).toString(16)}}`);
}

/** JSON has no C0 in it; the rest is escaped as JSON has it, so the value stays the same. */
function forJson(json: string): string {
	return json.replace(obeyed, (character) => `\\u${codeOf(character).toString(16).padStart(4, "0")}`);
}

function codeOf(character: string): number {
	return character.codePointAt(0) ?? 0;
}
