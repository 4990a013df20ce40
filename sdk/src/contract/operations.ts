import type { z } from "zod";
import * as channel from "./channel.js";
import * as memory from "./memory.js";
import * as provider from "./provider.js";
import * as state from "./state.js";
import * as tool from "./tool.js";

/** Every operation of the door with the schemas of its input and output (contract/shapes). */
export const operations = {
	"tool.call": { input: tool.ToolCallInput, output: tool.ToolCallOutput },
	"provider.chat": { input: provider.ChatInput, output: provider.ChatOutput },
	"provider.models": { input: provider.ModelsInput, output: provider.ModelsOutput },
	"memory.store": { input: memory.StoreInput, output: memory.StoreOutput },
	"memory.recall": { input: memory.RecallInput, output: memory.RecallOutput },
	"memory.get": { input: memory.KeyInput, output: memory.GetOutput },
	"memory.list": { input: memory.ListInput, output: memory.ListOutput },
	"memory.forget": { input: memory.KeyInput, output: memory.ForgetOutput },
	"memory.count": { input: memory.CountInput, output: memory.CountOutput },
	"memory.health": { input: memory.MemoryHealthInput, output: memory.MemoryHealthOutput },
	"channel.start": { input: channel.ChannelStartInput, output: channel.ChannelNothing },
	"channel.stop": { input: channel.ChannelNothing, output: channel.ChannelNothing },
	"channel.health": { input: channel.ChannelNothing, output: channel.ChannelHealthOutput },
	"channel.send": { input: channel.ChannelSendInput, output: channel.ChannelSendOutput },
	"channel.ack": { input: channel.ChannelAckInput, output: channel.ChannelNothing },
	"channel.typing": { input: channel.ChannelTypingInput, output: channel.ChannelNothing },
	"channel.draft": { input: channel.ChannelDraftInput, output: channel.ChannelSendOutput },
	"channel.edit": { input: channel.ChannelEditInput, output: channel.ChannelNothing },
	"channel.react": { input: channel.ChannelReactInput, output: channel.ChannelNothing },
	"channel.choose": { input: channel.ChannelChooseInput, output: channel.ChannelNothing },
	"channel.approve": { input: channel.ChannelApproveInput, output: channel.ChannelNothing },
	"state.publish": { input: state.PublishInput, output: state.PublishOutput },
} as const;

/** The name of an operation. */
export type Operation = keyof typeof operations;
/** The input of an operation. */
export type InputOf<O extends Operation> = z.infer<(typeof operations)[O]["input"]>;
/** The output of an operation. */
export type OutputOf<O extends Operation> = z.infer<(typeof operations)[O]["output"]>;
