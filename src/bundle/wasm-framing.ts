const magic = [0x00, 0x61, 0x73, 0x6d];
const version = [0x01, 0x00, 0x00, 0x00];
const lastSection = 13;

export type WasmFraming =
	| { readonly ok: true }
	| { readonly ok: false; readonly code: "bundle.wasm_invalid" | "bundle.wasm_truncated"; readonly detail: string };

/**
 * Looks at the frame of a core WebAssembly module: magic number, version 1, and sections that end where the bytes end.
 * What is inside the sections is for the engine to judge. Must not throw.
 */
export function checkWasmFraming(bytes: Uint8Array): WasmFraming {
	const invalid = (detail: string): WasmFraming => ({ ok: false, code: "bundle.wasm_invalid", detail });
	const truncated = (detail: string): WasmFraming => ({ ok: false, code: "bundle.wasm_truncated", detail });
	const begins = magic.every((byte, index) => index >= bytes.length || bytes[index] === byte);
	if (!begins) return invalid("it does not begin with the WebAssembly magic number");
	if (bytes.length < 8) return truncated("it is shorter than its header");
	if (!version.every((byte, index) => bytes[4 + index] === byte)) return invalid("it is no core module of version 1");
	let at = 8;
	while (at < bytes.length) {
		const id = bytes[at] ?? 0;
		if (id > lastSection) return invalid(`there is no section ${id}`);
		const size = readSize(bytes, at + 1);
		if (size === "truncated") return truncated("it ends in the size of a section");
		if (size === "invalid") return invalid("a section has no usable size");
		at = size.next + size.value;
		if (at > bytes.length) return truncated(`it ends ${at - bytes.length} bytes before its last section does`);
	}
	return { ok: true };
}

/** An unsigned LEB128 number of at most 32 bits. */
function readSize(bytes: Uint8Array, from: number): { value: number; next: number } | "truncated" | "invalid" {
	let value = 0;
	for (let index = 0; index < 5; index++) {
		const byte = bytes[from + index];
		if (byte === undefined) return "truncated";
		value += (byte & 0x7f) * 2 ** (7 * index);
		if (byte < 0x80) return value < 2 ** 32 ? { value, next: from + index + 1 } : "invalid";
	}
	return "invalid";
}
