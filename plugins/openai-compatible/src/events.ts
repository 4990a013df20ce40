/** Takes text as it came, cut anywhere; an event that is not ended by an empty line is never given (WHATWG HTML, 9.2.6). */
export type EventReader = { readonly push: (text: string) => void };

/** Reads server-sent events and gives the data of each. Other fields and comments are passed over. */
export function readEvents(onData: (data: string) => void): EventReader {
	let rest = "";
	let data: string[] = [];
	const takeLine = (line: string): void => {
		if (line === "") {
			if (data.length > 0) onData(data.join("\n"));
			data = [];
			return;
		}
		const [, value] = /^data(?:: ?(.*))?$/s.exec(line) ?? [];
		if (line === "data" || value !== undefined) data.push(value ?? "");
	};
	return {
		push: (text) => {
			const all = rest + text;
			let from = 0;
			for (const { index, 0: end } of all.matchAll(/\r\n|\n|\r/g)) {
				// a CR at the very end may be the first half of a CR LF
				if (end === "\r" && index === all.length - 1) break;
				takeLine(all.slice(from, index));
				from = index + end.length;
			}
			rest = all.slice(from);
		},
	};
}
