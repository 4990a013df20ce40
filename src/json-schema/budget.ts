import { RE2JS } from "re2js";

const maxProgramSize = 4000;

/** The regular expressions of one schema, which run in time linear to the text. */
export type LinearPattern = { readonly test: (text: string) => boolean; readonly size: number };

/**
 * The work one check may do. Every subschema that is looked at, every pattern and every format takes from it; when
 * nothing is left, the check ends by `BudgetSpent`. So a schema that branches into itself ends too.
 */
export class Budget {
	#left = 0;

	start(steps: number): void {
		this.#left = steps;
	}

	/** Takes steps. Throws `BudgetSpent` when they are not there. */
	spend(steps: number): void {
		this.#left -= steps;
		if (this.#left < 0) throw new BudgetSpent();
	}
}

/** The work of a check was larger than allowed. */
export class BudgetSpent extends Error {}

/**
 * Compiles an ECMA-262 regular expression to one that runs in linear time.
 * Throws with the reason for what RE2 has no form of: look-around, back references, repeats past 1000.
 */
export function compilePattern(source: string, budget: Budget): LinearPattern {
	requireEcma(source);
	const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
	const size = pattern.programSize();
	if (size > maxProgramSize) throw new Error(`it needs ${size} instructions, more than ${maxProgramSize}`);
	return {
		size,
		test: (text) => {
			budget.spend(1 + Math.ceil((text.length * size) / 64));
			return pattern.test(text);
		},
	};
}

// RE2 gives meaning to some escapes that ECMA-262 reads as plain letters, so those must not pass
function requireEcma(source: string): void {
	try {
		new RegExp(source, "u");
		return;
	} catch {
		new RegExp(source);
	}
	const letters = source.replace(/\\\\/g, "").matchAll(/\\([A-Za-z])/g);
	for (const [, letter] of letters) {
		if (!"dDwWsSbBnrtfvcxu".includes(letter ?? "")) throw new Error(`the escape \\${letter} is not ECMA-262`);
	}
}
