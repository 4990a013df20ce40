/** Whose a failure is. */
export type Owner = "operator" | "author" | "plugin" | "host";

/** One thing wrong with an input file (DESIGN section 11, `validate`). Line and column count from 1; 0 when there is no place. */
export type Problem = {
	readonly code: string;
	readonly file: string;
	readonly line: number;
	readonly column: number;
	/** A JSON pointer (RFC 6901); "" is the whole document. */
	readonly pointer: string;
	readonly message: string;
	readonly fix?: string;
};

/** An error as data, as it crosses threads and is printed (DESIGN section 11). */
export type ErrorReport = {
	readonly code: string;
	readonly owner: Owner;
	readonly message: string;
	readonly next?: string;
	readonly problems?: readonly Problem[];
};
