// Runs in: worker.
import type { QuickJSHandle } from "quickjs-emscripten-core";
import { driverFile, driverMember, driverSource } from "./driver.js";
import { loadSource, resolveImport } from "./modules.js";
import { preludeSource } from "./prelude.js";
import { type Engine, engineFactory } from "./quickjs.js";

/** What the guest may call, always within a stretch: each must only take note and return at once. */
export type Hooks = {
	/** A host function is asked; text given back is the result already. */
	readonly send: (id: number, name: string, text: string) => string | undefined;
	/** The call came to an end, of a kind the driver names. */
	readonly done: (kind: string, text: string) => void;
	/** A timer is wanted; false refuses it. */
	readonly timer: (id: number, ms: number) => boolean;
	readonly cancel: (id: number) => void;
};

/** What the driver is told when it is made. */
export type Settings = {
	/** Members of the `host` object. */
	readonly names: readonly string[];
	readonly argumentUnits: number;
	readonly answerUnits: number;
	/** End once the entry is loaded and has a handler, without calling it. */
	readonly loadOnly: boolean;
	/** Four random 32-bit integers. */
	readonly seed: readonly number[];
};

/** The driver's functions inside the guest. */
export type Driver = { readonly start: QuickJSHandle; readonly settle: QuickJSHandle; readonly fire: QuickJSHandle };

/**
 * A fresh engine in which the host's own sources have run: the driver and the globals. Nothing of a plugin has.
 *
 * @param memoryBytes see `engineFactory`
 */
export const createRealm = engineFactory(({ context }) => {
	const evaluate = (source: string) => context.unwrapResult(context.evalCode(source, driverFile, { type: "global" }));
	const driver = evaluate(driverSource);
	const prelude = evaluate(preludeSource);
	context.unwrapResult(context.callFunction(prelude, context.undefined, context.getProp(driver, "lend"))).dispose();
	context.setProp(context.global, driverMember, driver);
});

/**
 * Connects a realm to the host: what it may ask, and where its modules come from. To be called once.
 * Throws when the engine's memory is too small even for that.
 */
export function connectDriver(
	{ context, runtime }: Engine,
	sources: { readonly [path: string]: string },
	hooks: Hooks,
	settings: Settings,
): Driver {
	runtime.setModuleLoader(
		(path) => {
			const source = loadSource(sources, path);
			return typeof source === "string" ? source : { error: source };
		},
		(from, specifier) => resolveImport(sources, from, specifier),
	);
	const send = context.newFunction("send", (id, name, text) => {
		const reply = hooks.send(context.getNumber(id), context.getString(name), context.getString(text));
		return reply === undefined ? context.undefined : context.newString(reply);
	});
	const done = context.newFunction("done", (kind, text) => {
		hooks.done(context.getString(kind), context.getString(text));
	});
	const timer = context.newFunction("timer", (id, ms) =>
		hooks.timer(context.getNumber(id), context.getNumber(ms)) ? context.true : context.false,
	);
	const cancel = context.newFunction("cancel", (id) => hooks.cancel(context.getNumber(id)));
	const connect = context.getProp(context.getProp(context.global, driverMember), "connect");
	const text = context.newString(JSON.stringify(settings));
	const doors = context.unwrapResult(context.callFunction(connect, context.undefined, send, done, timer, cancel, text));
	const member = (name: keyof Driver) => context.getProp(doors, name);
	return { start: member("start"), settle: member("settle"), fire: member("fire") };
}
