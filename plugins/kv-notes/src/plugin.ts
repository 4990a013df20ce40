import { definePlugin } from "@mortise/sdk";
import { notes } from "./memory.js";
import { noteAdd, noteGet, noteList } from "./note-tools.js";

export default definePlugin({ memory: notes, tools: [noteAdd, noteList, noteGet] });
