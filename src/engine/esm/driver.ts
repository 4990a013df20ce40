// Runs in: worker.

/** The name the driver and the globals have in a stack; frames of it are not shown. */
export const driverFile = "mortise:driver";

/** The member of the global object under which a new realm keeps its driver until the driver is connected. */
export const driverMember = "mortise:driver";

/**
 * What runs inside the engine around a plugin: it imports the entry, calls `handle`, and turns everything that
 * crosses into text. It keeps its own references to what it needs, so that a plugin that changes the globals only
 * breaks itself; and it is trusted with nothing: the host checks again whatever arrives.
 *
 * An expression; its value is `{ lend, connect }`. `connect(send, done, timer, cancel, settings)` takes the driver out of the
 * global object and gives `{ start, settle, fire }`; `settings` is JSON.
 * - `send(id, name, text)` asks a host function; text given back is the result already, `undefined` means later.
 * - `done(kind, text)` ends the call: `answer`, `loaded`, `load`, `threw`, `no_handler`, `not_json`, `too_large`.
 * - `timer(id, ms)` is false when there are too many; `cancel(id)` forgets one.
 */
export const driverSource = `(function () {
"use strict";
let send, done, timer, cancel, settings;
const { parse, stringify } = JSON;
const { create, freeze, defineProperty } = Object;
const { apply } = Reflect;
const P = Promise, E = Error, T = TypeError, S = String;
const slice = S.prototype.slice;
const lend = {};

const cut = (text) => apply(slice, text, [0, 2048]);
const read = (value, key) => {
	try { const member = value[key]; return member === undefined ? "" : cut(S(member)); } catch { return ""; }
};
const describe = (value) => {
	if ((typeof value !== "object" && typeof value !== "function") || value === null) {
		let message = "";
		try { message = cut(S(value)); } catch {}
		return stringify({ type: value === null ? "null" : typeof value, name: "", message, stack: "" });
	}
	return stringify({ type: "object", name: read(value, "name"), message: read(value, "message"), stack: read(value, "stack") });
};
const failure = ({ code, message, retryable, retryAfterMs }) => {
	const error = new E(message);
	error.name = "HostCallError";
	error.code = code;
	if (retryable !== undefined) error.retryable = retryable;
	if (retryAfterMs !== undefined) error.retryAfterMs = retryAfterMs;
	return error;
};

const waiting = create(null);
let last = 0;
const conclude = (entry, text) => {
	const result = parse(text);
	if (result.ok) entry.resolve(result.value);
	else entry.reject(failure(result.failure));
};
const ask = (name, args) => new P((resolve, reject) => {
	let text;
	try { text = stringify(args === undefined ? {} : args); } catch {}
	if (typeof text !== "string") {
		reject(failure({ code: "invalid_input", message: "the arguments of host." + name + " are not JSON" }));
		return;
	}
	if (text.length > settings.argumentUnits) {
		reject(failure({ code: "invalid_input", message: "the arguments of host." + name + " are too large" }));
		return;
	}
	const id = ++last;
	const entry = { resolve, reject };
	const now = send(id, name, text);
	if (now === undefined) waiting[id] = entry;
	else conclude(entry, now);
});
const host = {};

const timers = create(null);
let lastTimer = 0;
const schedule = (run, ms, args) => {
	if (typeof run !== "function") throw new T("the first argument of setTimeout must be a function");
	const id = ++lastTimer;
	const wait = +ms;
	if (!timer(id, wait > 0 ? wait : 0)) throw new E("too many timers");
	timers[id] = () => run(...args);
	return id;
};
const forget = (id) => {
	if (timers[id] === undefined) return;
	delete timers[id];
	cancel(id);
};

const doors = {
	start: async (entry, envelope) => {
		let plugin;
		try { plugin = (await import(entry)).default; } catch (error) { done("load", describe(error)); return; }
		let text;
		try {
			if (plugin === undefined || plugin === null || typeof plugin.handle !== "function") { done("no_handler", ""); return; }
			if (settings.loadOnly) { done("loaded", ""); return; }
			const answer = await plugin.handle(parse(envelope), host);
			try { text = stringify(answer); } catch (error) { done("not_json", describe(error)); return; }
		} catch (error) { done("threw", describe(error)); return; }
		if (typeof text !== "string") done("not_json", describe("it is " + typeof text));
		else if (text.length > settings.answerUnits) done("too_large", S(text.length));
		else done("answer", text);
	},
	settle: (id, text) => {
		const entry = waiting[id];
		if (entry === undefined) return;
		delete waiting[id];
		conclude(entry, text);
	},
	fire: (id) => {
		const run = timers[id];
		if (run === undefined) return;
		delete timers[id];
		try { run(); } catch (error) { done("threw", describe(error)); }
	},
};
lend.ask = ask;
lend.schedule = schedule;
lend.forget = forget;
return {
	lend,
	connect: (...given) => {
		let text;
		[send, done, timer, cancel, text] = given;
		settings = parse(text);
		delete globalThis["mortise:driver"];
		for (const name of settings.names) {
			defineProperty(host, name, { value: (args) => ask(name, args), enumerable: true });
		}
		freeze(host);
		lend.seed(settings.seed);
		return doors;
	},
};
})()`;
