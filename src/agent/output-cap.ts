// Runs in: worker.
import type { Part } from "@mortise/sdk/contract";

/**
 * What a model is shown of a tool's output: text is cut on a character boundary of its UTF-8, other parts are shown whole or
 * not at all, and a last line says how much is missing and where the whole is kept.
 *
 * @param request.keep keeps the whole (the text when all parts are text, else JSON) and gives its id, or undefined when it could not
 */
export async function capOutput(request: {
	readonly content: readonly Part[];
	readonly maxBytes: number;
	readonly keep: (whole: string) => Promise<string | undefined>;
}): Promise<readonly Part[]> {
	const { content, maxBytes } = request;
	const total = content.reduce((sum, part) => sum + sizeOf(part), 0);
	if (total <= maxBytes) return content;
	const shown: Part[] = [];
	let left = maxBytes;
	for (const part of content) {
		const size = sizeOf(part);
		if (size <= left) {
			shown.push(part);
			left -= size;
		} else if (part.type === "text") {
			const text = cutText(part.text, left);
			if (text !== "") shown.push({ type: "text", text });
			left -= Buffer.byteLength(text);
			break;
		} else break;
	}
	const allText = content.every((part) => part.type === "text");
	const whole = allText ? content.map((part) => part.text).join("\n") : JSON.stringify(content);
	const id = await request.keep(whole);
	const kept = id === undefined ? "the rest could not be kept" : `the whole is kept as artefact ${id}`;
	shown.push({ type: "text", text: `[output cut: ${maxBytes - left} of ${total} bytes shown; ${kept}]` });
	return shown;
}

/** The longest beginning of a text that is at most `maxBytes` of UTF-8 and ends on a whole character. */
export function cutText(text: string, maxBytes: number): string {
	const bytes = Buffer.from(text);
	if (bytes.byteLength <= maxBytes) return text;
	let end = maxBytes;
	// a byte 10xxxxxx continues a character
	while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
	return bytes.subarray(0, end).toString();
}

function sizeOf(part: Part): number {
	if (part.type === "text") return Buffer.byteLength(part.text);
	if (part.type === "resource") return Buffer.byteLength(part.uri) + Buffer.byteLength(part.text ?? "");
	return part.data.length;
}
