// Runs in: worker.
import type { ChatInput, ChatOutput, EmitEvent, Message } from "@mortise/sdk/contract";
import type { CallOutcome, ErrorReport } from "../contract/index.js";
import { reportOf } from "../errors.js";
import type { RunningTurn } from "./running-turn.js";

/** How often a retryable failure of the provider is tried again. */
export const maxRetries = 2;
/** The first wait before trying again, in milliseconds; it doubles. `retryAfterMs` of the provider is stronger. */
export const firstRetryMs = 500;

export type ModelAnswer =
	| { readonly ok: true; readonly output: ChatOutput }
	| { readonly ok: false; readonly error: ErrorReport };

/**
 * Asks the provider once, and again while its failure says it may help and the turn has the time. Never rejects.
 * A wait that would outlast the turn is not begun: the provider's own failure is the answer. So it is once pieces of an
 * answer were passed on: whoever has read half of one cannot be given another.
 */
export async function askModel(
	turn: RunningTurn,
	messages: readonly Message[],
	iteration: number,
): Promise<ModelAnswer> {
	const { plan, edges, stop } = turn;
	let hasBegun = false;
	const onEmit = (piece: EmitEvent): void => {
		if (stop.signal.aborted) return;
		hasBegun = true;
		edges.emit({ type: "model-delta", iteration, piece });
	};
	const waiting = `the provider ${plan.provider.name}`;
	const input: ChatInput = {
		model: plan.provider.model,
		messages: [...messages],
		tools: plan.tools.map(({ name, description, input: schema }) => ({ name, description, input: schema })),
		options: {},
	};
	for (let attempt = 0; ; attempt += 1) {
		if (stop.signal.aborted) return { ok: false, error: stop.report(waiting) };
		const outcome = await stop.orStopped(
			called(() => edges.chat(input, stop.signal, plan.stream ? onEmit : undefined)),
		);
		if (outcome === undefined || stop.signal.aborted) return { ok: false, error: stop.report(waiting) };
		// the opener of the plugin checked the output against the operation's schema
		if (outcome.ok) return { ok: true, output: outcome.output as ChatOutput };
		const pauseMs = outcome.retryAfterMs ?? firstRetryMs * 2 ** attempt;
		if (!outcome.retryable || hasBegun || attempt >= maxRetries || pauseMs >= stop.leftMs()) {
			return { ok: false, error: outcome.error };
		}
		await stop.sleep(pauseMs);
	}
}

/** An edge's promise, with a rejection (a broken promise of the edge) turned into an outcome owned by the host. */
async function called(edge: () => Promise<CallOutcome>): Promise<CallOutcome> {
	try {
		return await edge();
	} catch (error) {
		return { ok: false, error: reportOf(error), retryable: false, ms: 0 };
	}
}
