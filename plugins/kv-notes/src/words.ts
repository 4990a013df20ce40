const mostWords = 64;
const longestWord = 24;
const hashes = 36 ** 3;

/**
 * The distinct words of a text, as they are searched: compatibility form, without marks, in lower case. Scripts that
 * are written without spaces are taken by each two neighbouring characters. At most 64 words a text.
 */
export function wordsOf(text: string): readonly string[] {
	const words = new Set<string>();
	const plain = text
		.normalize("NFKD")
		.replace(/\p{M}+/gu, "")
		.toLowerCase();
	for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
		if (words.size >= mostWords) break;
		if (unspaced.test(word)) for (const pair of pairsOf(word)) words.add(pair);
		else words.add([...word].slice(0, longestWord).join(""));
	}
	return [...words].slice(0, mostWords);
}

/** A word in three characters, for the index; two words may share them. */
export function hashOf(word: string): string {
	let hash = 0x811c9dc5;
	for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), 0x01000193) >>> 0;
	return (hash % hashes).toString(36).padStart(3, "0");
}

const unspaced =
	/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function pairsOf(word: string): readonly string[] {
	const characters = [...word];
	if (characters.length === 1) return characters;
	return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
