// Waits for ever before anything is exported.
await new Promise((resolve) => setTimeout(resolve, 1e9));
export default { async handle() {} };
