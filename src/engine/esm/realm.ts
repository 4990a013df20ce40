// Runs in: worker.
import type { QuickJSHandle } from "quickjs-emscripten-core";
import { driverFile, driverSource } from "./driver.js";
import { loadSource, resolveImport } from "./modules.js";
import { preludeSource } from "./prelude.js";
import type { Engine } from "./quickjs.js";

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
 * Sets up a realm with the host's own sources: the driver, the globals, the module loader. Nothing of the plugin has run
 * when it returns. Throws when the engine's memory is too small even for that.
 */
export function installDriver(
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
	const make = context.unwrapResult(context.evalCode(driverSource, driverFile, { type: "global" }));
	const driver = context.unwrapResult(
		context.callFunction(
			make,
			context.undefined,
			send,
			done,
			timer,
			cancel,
			context.newString(JSON.stringify(settings)),
		),
	);
	const prelude = context.unwrapResult(context.evalCode(preludeSource, driverFile, { type: "global" }));
	context.unwrapResult(context.callFunction(prelude, context.undefined, context.getProp(driver, "lend")));
	const member = (name: keyof Driver) => context.getProp(driver, name);
	return { start: member("start"), settle: member("settle"), fire: member("fire") };
}
