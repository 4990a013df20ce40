/** Who holds a tool name: a native tool, a bundle's tool, or the host that keeps the name for itself. */
export type ToolHolder = { readonly origin: "native" | "plugin" | "reserved"; readonly bundle?: string };

/** A tool that lost its name, as data (rule R82). `name` is escaped where it is no valid name. */
export type ToolDrop = {
	readonly name: string;
	readonly origin: "native" | "plugin";
	readonly bundle?: string;
	readonly keptBy: ToolHolder;
	/** The rule that decided, such as `R80`. */
	readonly rule: string;
};
