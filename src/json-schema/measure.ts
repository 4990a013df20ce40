/** How much of a JSON value is accepted. */
export type Caps = { readonly maxDepth: number; readonly maxNodes: number; readonly maxTextLength: number };

/**
 * Says what keeps a value from being plain JSON within the caps, or undefined when nothing does. Looks at own
 * enumerable members only; a key `__proto__` is never accepted. The walk ends as soon as a cap is passed, so a cyclic or
 * endless value costs no more than the caps.
 */
export function measure(value: unknown, caps: Caps): string | undefined {
	let nodes = 0;
	let textLength = 0;
	const walk = (node: unknown, depth: number): string | undefined => {
		if (depth > caps.maxDepth) return `it is nested deeper than ${caps.maxDepth}`;
		nodes += 1;
		if (nodes > caps.maxNodes) return `it has more than ${caps.maxNodes} values`;
		switch (typeof node) {
			case "string":
				return text(node);
			case "boolean":
				return undefined;
			case "number":
				return Number.isFinite(node) ? undefined : "it holds a number that is not finite";
			case "object":
				break;
			default:
				return `it holds something that is not JSON (${typeof node})`;
		}
		if (node === null) return undefined;
		if (Array.isArray(node)) {
			// by index: a hole is read as undefined, which is not JSON
			for (let index = 0; index < node.length; index += 1) {
				const problem = walk(node[index], depth + 1);
				if (problem !== undefined) return problem;
			}
			return undefined;
		}
		const prototype: unknown = Object.getPrototypeOf(node);
		if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return "it holds an object that is not plain";
		for (const [key, member] of Object.entries(node)) {
			if (key === "__proto__") return 'it has a key "__proto__"';
			const problem = text(key) ?? walk(member, depth + 1);
			if (problem !== undefined) return problem;
		}
		return undefined;
	};
	const text = (characters: string): string | undefined => {
		textLength += characters.length;
		return textLength > caps.maxTextLength ? `it holds more than ${caps.maxTextLength} characters` : undefined;
	};
	return walk(value, 0);
}

/** JSON text that is the same for the same value, whatever the order of its keys. The value must have been measured. */
export function canonicalJson(value: unknown): string {
	return JSON.stringify(value, (_key, member: unknown) => {
		if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
		return Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)));
	});
}
