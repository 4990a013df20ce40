// Runs in: worker.

/** Numbers, vectors and plain references: whatever a newer engine keeps outside linear memory is not among them. */
export const valueTypes: ReadonlySet<number> = new Set([0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f]);
