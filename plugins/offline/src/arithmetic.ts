/** Digits beyond this are noise of binary fractions: 0.1 + 0.2 is shown as 0.3. */
const shownDigits = 12;
const maxDepth = 100;

/**
 * The value of an arithmetic expression: decimal numbers, `+ - * / % ^`, parentheses, the signs × · ÷ − and `**`.
 * `undefined` when the text is not one; NaN or an infinity when it has no value, as in a division by zero.
 */
export function calculate(text: string): number | undefined {
	const tokens = tokensOf(text);
	if (tokens === undefined || tokens.length === 0) return undefined;
	const parser = { tokens, at: 0, depth: 0 };
	const value = sum(parser);
	return parser.at === tokens.length ? value : undefined;
}

/** Whether a text that can be calculated has something to calculate, and is not a number alone. */
export function isExpression(text: string): boolean {
	return /[\d)]\s*(\*\*|[-+*/%^×·÷−])\s*[-+−(.\d]/.test(text);
}

/** A number as people write it: no exponent where it can be helped, no noise of binary fractions. */
export function show(value: number): string {
	if (!Number.isFinite(value)) return "no number";
	if (Number.isSafeInteger(value)) return String(value);
	return String(Number(value.toPrecision(shownDigits)));
}

type Parser = { readonly tokens: readonly (string | number)[]; at: number; depth: number };

function tokensOf(text: string): readonly (string | number)[] | undefined {
	const tokens: (string | number)[] = [];
	const pattern = /\s*(?:(\d+(?:\.\d+)?|\.\d+)|(\*\*|[-+*/%^()×·÷−]))/y;
	const end = text.trimEnd().length;
	while (pattern.lastIndex < end) {
		const match = pattern.exec(text);
		if (match === null) return undefined;
		if (match[1] !== undefined) tokens.push(Number(match[1]));
		else if (match[2] !== undefined) tokens.push(plain[match[2]] ?? match[2]);
	}
	return tokens;
}

const plain: Readonly<Record<string, string>> = { "×": "*", "·": "*", "÷": "/", "−": "-", "**": "^" };

function take(parser: Parser, ...operators: readonly string[]): string | undefined {
	const token = parser.tokens[parser.at];
	if (typeof token !== "string" || !operators.includes(token)) return undefined;
	parser.at++;
	return token;
}

function sum(parser: Parser): number | undefined {
	let value = product(parser);
	for (let sign = take(parser, "+", "-"); sign !== undefined && value !== undefined; sign = take(parser, "+", "-")) {
		const right = product(parser);
		if (right === undefined) return undefined;
		value = sign === "+" ? value + right : value - right;
	}
	return value;
}

function product(parser: Parser): number | undefined {
	let value = signed(parser);
	for (let sign = take(parser, "*", "/", "%"); sign !== undefined && value !== undefined; ) {
		const right = signed(parser);
		if (right === undefined) return undefined;
		value = sign === "*" ? value * right : sign === "/" ? value / right : value % right;
		sign = take(parser, "*", "/", "%");
	}
	return value;
}

// a sign binds looser than a power: -2^2 is -4
function signed(parser: Parser): number | undefined {
	let negative = false;
	for (let sign = take(parser, "+", "-"); sign !== undefined; sign = take(parser, "+", "-"))
		if (sign === "-") negative = !negative;
	const value = power(parser);
	return value !== undefined && negative ? -value : value;
}

function power(parser: Parser): number | undefined {
	const base = primary(parser);
	if (base === undefined || take(parser, "^") === undefined) return base;
	if (++parser.depth > maxDepth) return undefined;
	const exponent = signed(parser);
	parser.depth--;
	return exponent === undefined ? undefined : base ** exponent;
}

function primary(parser: Parser): number | undefined {
	const token = parser.tokens[parser.at];
	if (typeof token === "number") {
		parser.at++;
		return token;
	}
	if (take(parser, "(") === undefined || ++parser.depth > maxDepth) return undefined;
	const value = sum(parser);
	parser.depth--;
	return take(parser, ")") === undefined ? undefined : value;
}
