/** Rows as columns of equal width, the last one open. */
export function columns(rows: readonly (readonly string[])[]): string {
	const widths: number[] = [];
	for (const row of rows)
		for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
	return rows
		.map((row) =>
			row
				.map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
				.join("  ")
				.trimEnd(),
		)
		.join("\n");
}
