import { z } from "zod";
import { JsonObject } from "./json.js";
import { Part } from "./part.js";

const Nothing = z.strictObject({});

/** `channel.start`: one poller per identity. */
export const ChannelStartInput = z.strictObject({ config: JsonObject, identity: z.string().min(1) });
export type ChannelStartInput = z.infer<typeof ChannelStartInput>;
export const ChannelSendInput = z.strictObject({
	to: z.string(),
	content: z.array(Part),
	replyTo: z.string().optional(),
});
export type ChannelSendInput = z.infer<typeof ChannelSendInput>;
export const ChannelSendOutput = z.strictObject({ id: z.string() });
/** `channel.health`: `lastInbound` is the last inbound event (ISO 8601 UTC), not "the process is alive". */
export const ChannelHealthOutput = z.strictObject({ lastInbound: z.iso.datetime().optional(), state: z.string() });
export type ChannelHealthOutput = z.infer<typeof ChannelHealthOutput>;
/** `channel.ack`: sent once the inbound event was handled. */
export const ChannelAckInput = z.strictObject({ id: z.string() });

/** An inbound message, emitted by the plugin. */
export const InboundEvent = z.strictObject({
	type: z.literal("inbound"),
	id: z.string(),
	from: z.string(),
	to: z.string().optional(),
	content: z.array(Part),
	at: z.iso.datetime(),
	thread: z.string().optional(),
});
export type InboundEvent = z.infer<typeof InboundEvent>;

/** By feature. */
export const ChannelTypingInput = z.strictObject({ to: z.string(), on: z.boolean() });
export const ChannelDraftInput = z.strictObject({ to: z.string(), id: z.string().optional(), content: z.array(Part) });
export const ChannelEditInput = z.strictObject({ to: z.string(), id: z.string(), content: z.array(Part) });
export const ChannelReactInput = z.strictObject({ to: z.string(), id: z.string(), emoji: z.string() });
export const ChannelChooseInput = z.strictObject({ to: z.string(), prompt: z.string(), choices: z.array(z.string()) });
export const ChannelApproveInput = z.strictObject({ to: z.string(), question: z.string(), id: z.string() });
export const ChannelNothing = Nothing;
