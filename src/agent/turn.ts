// Runs in: worker.
import { type ChatOutput, type Message, textOf, type Usage } from "@mortise/sdk/contract";
import type { ToolReport, TurnOutcome, TurnPlan } from "../contract/index.js";
import { errorReport, reportOf } from "../errors.js";
import { createLoopWatch, loopNotice } from "./loop-watch.js";
import { askModel } from "./model-call.js";
import type { RunningTurn, TurnEdges } from "./running-turn.js";
import { createStop } from "./stop.js";
import { createIdRepair, runToolCalls } from "./tool-calls.js";

/** What one answer of a model may hold: parts, tool calls, and bytes of JSON in one call's arguments. */
const maxParts = 256;
export const maxCalls = 64;
export const maxArgumentBytes = 256 * 1024;

/**
 * Runs one turn: the model is asked, its tool calls are prepared in order, executed, finalised in the model's order, and
 * it is asked again, until it answers without a call. Never rejects.
 *
 * ```
 * turn-start
 *   model-start model-end
 *   tool-start [tool-denied] … tool-end      each call; starts and ends in the model's order
 *   model-start model-end
 * turn-end
 * ```
 *
 * Stops: the provider's `end`, `length`, `filtered`; `iterations` when the model has been called that often (the calls it
 * asked for last have run); `loop` when it repeats the same calls with the same results after being told. `messages` of the
 * outcome begin with the user's message. A turn that fails ends in `turn.cancelled`, `turn.timeout`, `turn.empty_reply`, or
 * the provider's own error; a tool that fails does not end the turn.
 */
export async function runTurn(plan: TurnPlan, edges: TurnEdges): Promise<TurnOutcome> {
	edges.emit({ type: "turn-start", turn: plan.turn });
	const tools: ToolReport[] = [];
	const stop = createStop({
		signal: edges.signal,
		timeoutMs: plan.limits.timeoutMs,
		...(edges.now === undefined ? {} : { now: edges.now }),
		...(edges.sleep === undefined ? {} : { sleep: edges.sleep }),
	});
	try {
		return await iterate({ plan, edges, stop, tools });
	} catch (error) {
		return { ok: false, error: reportOf(error), tools };
	} finally {
		stop.close();
		edges.emit({ type: "turn-end", turn: plan.turn });
	}
}

async function iterate(turn: RunningTurn): Promise<TurnOutcome> {
	const { plan, edges, stop, tools } = turn;
	const fresh: Message[] = plan.messages.slice(-1);
	const past = plan.messages.slice(0, -1);
	const repairIds = createIdRepair(plan.messages);
	const watch = createLoopWatch();
	let usage: Usage = { input: 0, output: 0 };
	let reply = "";
	const end = (why: Extract<TurnOutcome, { ok: true }>["stop"]): TurnOutcome => ({
		ok: true,
		reply,
		stop: why,
		usage,
		tools,
		messages: fresh,
	});
	for (let iteration = 1; iteration <= plan.limits.iterations; iteration += 1) {
		edges.emit({ type: "model-start", iteration });
		const asked = await askModel(turn, [...past, ...fresh], iteration);
		if (!asked.ok) {
			edges.emit({ type: "model-end", iteration, content: [], toolCalls: [] });
			return { ok: false, error: asked.error, tools };
		}
		const { content, reasoning } = asked.output;
		const excess = excessOf(asked.output);
		if (excess !== undefined) {
			edges.emit({ type: "model-end", iteration, content: [], toolCalls: [] });
			const fields = { provider: plan.provider.name, ...excess };
			return { ok: false, error: errorReport("turn.answer_too_large", fields), tools };
		}
		const calls = repairIds(asked.output.toolCalls, iteration);
		edges.emit({ type: "model-end", iteration, content, toolCalls: calls });
		usage = addUsage(usage, asked.output.usage);
		const said = textOf(content);
		const silent = said.trim() === "";
		if (silent && calls.length === 0) {
			const fields = { provider: plan.provider.name, stop: asked.output.stop };
			return { ok: false, error: errorReport("turn.empty_reply", fields), tools };
		}
		if (!silent) reply = said;
		// what a filter cut short is not acted on
		const acted = asked.output.stop === "filtered" ? [] : calls;
		fresh.push({
			role: "assistant",
			content,
			...(acted.length === 0 ? {} : { toolCalls: [...acted] }),
			...(reasoning === undefined ? {} : { reasoning }),
		});
		if (acted.length === 0) return end(asked.output.stop === "tool" ? "end" : asked.output.stop);
		const results = await runToolCalls(turn, acted);
		tools.push(...results.map((result) => result.report));
		if (stop.signal.aborted)
			return { ok: false, error: stop.report(`the calls of ${acted.map((call) => call.name).join(", ")}`), tools };
		const seen = watch(results);
		fresh.push(...results.map((result) => result.message));
		if (seen === "stop") return end("loop");
		if (seen === "tell") tellLast(fresh);
	}
	return end("iterations");
}

function tellLast(messages: Message[]): void {
	const last = messages.pop();
	if (last !== undefined) messages.push({ ...last, content: [...last.content, { type: "text", text: loopNotice }] });
}

/** What of an answer is more than a turn acts on. It is looked at before any of it crosses to the main thread. */
function excessOf({ content, toolCalls }: ChatOutput): { readonly what: string; readonly max: number } | undefined {
	if (content.length > maxParts) return { what: `${content.length} parts`, max: maxParts };
	if (toolCalls.length > maxCalls) return { what: `${toolCalls.length} tool calls`, max: maxCalls };
	for (const call of toolCalls) {
		const bytes = Buffer.byteLength(JSON.stringify(call.arguments));
		if (bytes > maxArgumentBytes) return { what: `${bytes} bytes of arguments in one call`, max: maxArgumentBytes };
	}
	return undefined;
}

/** Usage is what a provider says; a sum past what counts exactly stays there. */
function sum(a: number, b: number): number {
	return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

function addUsage(a: Usage, b: Usage): Usage {
	const cached =
		a.cachedInput === undefined && b.cachedInput === undefined
			? undefined
			: sum(a.cachedInput ?? 0, b.cachedInput ?? 0);
	return {
		input: sum(a.input, b.input),
		output: sum(a.output, b.output),
		...(cached === undefined ? {} : { cachedInput: cached }),
	};
}
