// Loops for ever before anything is exported.
for (;;);
export default { async handle() {} };
