const mostWords = 64;
const longestWord = 24;

/**
 * The distinct words of a text, as they are indexed: compatibility form, without marks, in lower case. Scripts that are
 * written without spaces are indexed by each two neighbouring characters. At most 64 words a text.
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

const unspaced =
	/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function pairsOf(word: string): readonly string[] {
	const characters = [...word];
	if (characters.length === 1) return characters;
	return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
