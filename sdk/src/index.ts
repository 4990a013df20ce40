export * as contract from "./contract/index.js";
