import { definePlugin } from "@mortise/sdk";
import { httpGet } from "./http-get.js";

export default definePlugin({ tools: [httpGet] });
