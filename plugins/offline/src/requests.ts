/** One thing asked for, in the words of the message. */
export type Request =
	| { readonly kind: "calculate"; readonly expression: string }
	| { readonly kind: "remember" | "recall"; readonly text: string }
	| { readonly kind: "use"; readonly tool: string; readonly text: string }
	| { readonly kind: "help"; readonly tool?: string }
	| { readonly kind: "unknown"; readonly text: string };

/**
 * The requests of a message, in order. They are parted by line breaks, `; ` and the word `then`, except inside double
 * quotes and braces.
 */
export function requestsOf(message: string): readonly Request[] {
	return split(message).flatMap((piece) => {
		const text = piece
			.trim()
			.replace(/^(?:(?:and|then|please|now|first|finally|also)\b[,:]?\s*)+/i, "")
			.trim();
		return text === "" ? [] : [requestOf(text)];
	});
}

function requestOf(text: string): Request {
	const help =
		/^(?:help(?:\s+(?:me\s+)?(?:with\s+|on\s+)?`?([A-Za-z0-9_-]{1,64})`?)?|what\s+can\s+you\s+do)[\s?!.]*$|^\?$/i.exec(
			text,
		);
	if (help !== null) return { kind: "help", ...(help[1] === undefined ? {} : { tool: help[1] }) };
	const use =
		/^(?:use|call|run)\s+(?:the\s+tool\s+)?`?([A-Za-z0-9_-]{1,64})`?(?:\s+(?:with|on|for)\b)?(?:\s*:)?([\s\S]*)$/i.exec(
			text,
		);
	if (use?.[1] !== undefined) return { kind: "use", tool: use[1], text: (use[2] ?? "").trim() };
	const remember = /^(?:remember|note|memori[sz]e)(?:\s+that\b)?\s*:?\s+([\s\S]+)$/i.exec(text);
	if (remember?.[1] !== undefined) return { kind: "remember", text: remember[1].trim() };
	const recall = /^(?:recall|what\s+do\s+you\s+(?:remember|know)(?:\s+about)?)\b\s*:?\s*([\s\S]*)$/i.exec(text);
	if (recall !== null) return { kind: "recall", text: (recall[1] ?? "").replace(/[?!.]+$/, "").trim() };
	const asked =
		/^(?:what\s+is|what's|how\s+much\s+is|calculate|compute|work\s+out)\s+([\s\S]+)$/i.exec(text)?.[1] ?? text;
	const expression = asked.replace(/[\s=?!.]+$/, "").trim();
	if (/^[-+*/%^()×·÷−\d.\s]*$/.test(expression.replaceAll("{result}", "1")) && /\d|\{result\}/.test(expression))
		return { kind: "calculate", expression };
	return { kind: "unknown", text };
}

function split(message: string): readonly string[] {
	const pieces: string[] = [];
	let piece = "";
	let quoted = false;
	let depth = 0;
	const braces = closedBraces(message);
	const separator = /\r\n|[\n\r\u2028\u2029]|;(?=\s|$)|\s+then\s+|,\s+then\s+/iy;
	for (let at = 0; at < message.length; ) {
		const character = message.charAt(at);
		if (character === "\\" && quoted) {
			piece += message.slice(at, at + 2);
			at += 2;
			continue;
		}
		// a quote or a brace that is never closed is an ordinary character
		if (character === '"' && (quoted || message.indexOf('"', at + 1) !== -1)) quoted = !quoted;
		else if (!quoted && character === "{" && braces.has(at)) depth++;
		else if (!quoted && character === "}" && depth > 0) depth--;
		separator.lastIndex = at;
		const match = quoted || depth > 0 ? null : separator.exec(message);
		if (match === null) {
			piece += character;
			at++;
			continue;
		}
		pieces.push(piece);
		piece = "";
		at += match[0].length;
	}
	return [...pieces, piece];
}

/** Where each brace that is closed later opens; braces inside quotes do not count. */
function closedBraces(message: string): ReadonlySet<number> {
	const open: number[] = [];
	const closed = new Set<number>();
	let quoted = false;
	for (let at = 0; at < message.length; at++) {
		const character = message.charAt(at);
		if (quoted && character === "\\") at++;
		else if (character === '"') quoted = !quoted;
		else if (quoted) continue;
		else if (character === "{") open.push(at);
		else if (character === "}") {
			const start = open.pop();
			if (start !== undefined) closed.add(start);
		}
	}
	return closed;
}
