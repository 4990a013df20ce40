// Runs in: worker.

/**
 * The globals a plugin finds besides those of the language: `console`, `setTimeout`, `clearTimeout`, `queueMicrotask`,
 * `TextEncoder`, `TextDecoder` (UTF-8), `atob`, `btoa`, `structuredClone`, and a `Math.random` seeded afresh in each
 * call (the engine's own is seeded by the clock: two calls in one millisecond would draw the same numbers).
 *
 * There is no `fetch`, `process`, `require`, `URL` or `WebAssembly`.
 *
 * An expression; its value is a function of what the driver lends. It is called once, when a realm is made.
 */
export const preludeSource = String.raw`(function (lend) {
"use strict";
const define = (name, value) =>
	Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
const { stringify } = JSON;
const { fromCharCode } = String;

const show = (value) => {
	if (typeof value === "string") return value;
	if (value instanceof Error) return value.name + ": " + value.message;
	try { return stringify(value) ?? String(value); } catch { return Object.prototype.toString.call(value); }
};
const printer = (level) => (...values) => {
	lend.ask("log", { level, message: values.map(show).join(" ").slice(0, 65536) }).catch(() => {});
};
define("console", {
	debug: printer("debug"), log: printer("info"), info: printer("info"), warn: printer("warn"), error: printer("error"),
});

define("setTimeout", (run, ms, ...args) => lend.schedule(run, ms, args));
define("clearTimeout", (id) => lend.forget(id));
define("queueMicrotask", (run) => {
	if (typeof run !== "function") throw new TypeError("the argument of queueMicrotask must be a function");
	Promise.resolve().then(() => run()).catch((error) => lend.schedule(() => { throw error; }, 0, []));
});

let a = 0, b = 0, c = 0, d = 0;
const next = () => {
	const t = (((a + b) | 0) + d) | 0;
	d = (d + 1) | 0;
	a = b ^ (b >>> 9);
	b = (c + (c << 3)) | 0;
	c = ((c << 21) | (c >>> 11)) + t | 0;
	return t >>> 0;
};
lend.seed = (seed) => {
	[a, b, c, d] = seed;
	for (let i = 0; i < 16; i++) next();
};
Math.random = { random: () => ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992 }.random;

const bytesOf = (input) => {
	if (input === undefined) return new Uint8Array(0);
	if (input instanceof ArrayBuffer || input instanceof SharedArrayBuffer) return new Uint8Array(input);
	if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
	throw new TypeError("not a buffer");
};
class TextEncoder {
	get encoding() { return "utf-8"; }
	encode(input = "") {
		const text = String(input).toWellFormed();
		const out = new Uint8Array(text.length * 3);
		return out.slice(0, this.encodeInto(text, out).written);
	}
	encodeInto(input, out) {
		const text = String(input).toWellFormed();
		let read = 0, written = 0;
		while (read < text.length) {
			const point = text.codePointAt(read);
			const size = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
			if (written + size > out.length) break;
			if (size === 1) out[written++] = point;
			else {
				out[written++] = (size === 2 ? 0xc0 : size === 3 ? 0xe0 : 0xf0) | (point >> (6 * (size - 1)));
				for (let i = size - 2; i >= 0; i--) out[written++] = 0x80 | ((point >> (6 * i)) & 0x3f);
			}
			read += size === 4 ? 2 : 1;
		}
		return { read, written };
	}
}
// the UTF-8 decoder of the Encoding standard, byte by byte
class TextDecoder {
	#fatal; #ignoreBom; #fresh = true; #point = 0; #needed = 0; #lower = 0x80; #upper = 0xbf;
	constructor(label = "utf-8", { fatal = false, ignoreBOM = false } = {}) {
		if (!["utf-8", "utf8", "unicode-1-1-utf-8"].includes(String(label).trim().toLowerCase())) {
			throw new RangeError("only utf-8 is supported, not " + label);
		}
		this.#fatal = !!fatal;
		this.#ignoreBom = !!ignoreBOM;
	}
	get encoding() { return "utf-8"; }
	get fatal() { return this.#fatal; }
	get ignoreBOM() { return this.#ignoreBom; }
	decode(input, { stream = false } = {}) {
		const bytes = bytesOf(input);
		let text = "", units = [];
		const push = (point) => {
			if (this.#fresh) {
				this.#fresh = false;
				if (point === 0xfeff && !this.#ignoreBom) return;
			}
			if (point > 0xffff) units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
			else units.push(point);
			if (units.length > 4096) { text += fromCharCode.apply(null, units); units = []; }
		};
		const reset = () => { this.#point = this.#needed = 0; this.#lower = 0x80; this.#upper = 0xbf; };
		const broken = () => {
			reset();
			if (this.#fatal) { this.#fresh = true; throw new TypeError("the bytes are not UTF-8"); }
			push(0xfffd);
		};
		for (let i = 0; i < bytes.length; i++) {
			const byte = bytes[i];
			if (this.#needed > 0) {
				if (byte < this.#lower || byte > this.#upper) { broken(); i--; continue; }
				this.#lower = 0x80; this.#upper = 0xbf;
				this.#point = (this.#point << 6) | (byte & 0x3f);
				if (--this.#needed === 0) { const point = this.#point; reset(); push(point); }
			} else if (byte < 0x80) push(byte);
			else if (byte >= 0xc2 && byte <= 0xdf) { this.#needed = 1; this.#point = byte & 0x1f; }
			else if (byte >= 0xe0 && byte <= 0xef) {
				if (byte === 0xe0) this.#lower = 0xa0;
				if (byte === 0xed) this.#upper = 0x9f;
				this.#needed = 2; this.#point = byte & 0xf;
			} else if (byte >= 0xf0 && byte <= 0xf4) {
				if (byte === 0xf0) this.#lower = 0x90;
				if (byte === 0xf4) this.#upper = 0x8f;
				this.#needed = 3; this.#point = byte & 7;
			} else broken();
		}
		if (!stream) {
			if (this.#needed > 0) broken();
			this.#fresh = true;
		}
		return text + fromCharCode.apply(null, units);
	}
}
define("TextEncoder", TextEncoder);
define("TextDecoder", TextDecoder);

const named = (name, message) => { const error = new Error(message); error.name = name; return error; };
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
define("btoa", (input) => {
	const text = String(input);
	let out = "";
	for (let i = 0; i < text.length; i += 3) {
		const [x, y, z] = [text.charCodeAt(i), text.charCodeAt(i + 1), text.charCodeAt(i + 2)];
		if (x > 255 || y > 255 || z > 255) throw named("InvalidCharacterError", "btoa takes characters up to 255 only");
		out += alphabet[x >> 2] + alphabet[((x & 3) << 4) | (y >> 4)];
		out += i + 1 < text.length ? alphabet[((y & 15) << 2) | (z >> 6)] : "=";
		out += i + 2 < text.length ? alphabet[z & 63] : "=";
	}
	return out;
});
define("atob", (input) => {
	let text = String(input).replace(/[\t\n\f\r ]/g, "");
	if (text.length % 4 === 0) text = text.replace(/==?$/, "");
	if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw named("InvalidCharacterError", "not base64");
	let out = "", bits = 0, held = 0;
	for (const character of text) {
		bits = ((bits << 6) | alphabet.indexOf(character)) & 0xffff;
		held += 6;
		if (held >= 8) { held -= 8; out += fromCharCode((bits >> held) & 255); }
	}
	return out;
});

// plain data, dates, patterns, maps, sets, errors and buffers, with cycles; anything else is refused
define("structuredClone", (value) => {
	const seen = new Map();
	const copy = (item) => {
		if (typeof item === "function" || typeof item === "symbol") throw named("DataCloneError", "it cannot be cloned");
		if (typeof item !== "object" || item === null) return item;
		if (seen.has(item)) return seen.get(item);
		const keep = (made) => { seen.set(item, made); return made; };
		if (item instanceof Date) return keep(new Date(item.getTime()));
		if (item instanceof RegExp) return keep(new RegExp(item.source, item.flags));
		if (item instanceof ArrayBuffer) return keep(item.slice(0));
		if (ArrayBuffer.isView(item)) {
			const buffer = copy(item.buffer);
			return keep(new item.constructor(buffer, item.byteOffset, item instanceof DataView ? item.byteLength : item.length));
		}
		if (item instanceof Map) {
			const made = keep(new Map());
			for (const [key, member] of [...item]) made.set(copy(key), copy(member));
			return made;
		}
		if (item instanceof Set) {
			const made = keep(new Set());
			for (const member of [...item]) made.add(copy(member));
			return made;
		}
		if (item instanceof Error) {
			const kinds = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
			const made = keep(new (Object.hasOwn(kinds, item.name) ? kinds[item.name] : Error)(String(item.message)));
			if (Object.hasOwn(item, "cause")) Object.defineProperty(made, "cause", { value: copy(item.cause), writable: true, configurable: true });
			return made;
		}
		if (item instanceof Promise || item instanceof WeakMap || item instanceof WeakSet || item instanceof WeakRef) {
			throw named("DataCloneError", "it cannot be cloned");
		}
		const made = keep(Array.isArray(item) ? new Array(item.length) : {});
		for (const key of Object.keys(item)) {
			Object.defineProperty(made, key, { value: copy(item[key]), writable: true, enumerable: true, configurable: true });
		}
		return made;
	};
	return copy(value);
});
})`;
