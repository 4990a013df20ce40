import { setMaxListeners } from "node:events";

/**
 * The signal itself, without Node's warning past ten listeners: as many wait for it as there are calls under way, and
 * each takes its listener off again.
 */
export function heardByMany(signal: AbortSignal): AbortSignal {
	setMaxListeners(0, signal);
	return signal;
}
