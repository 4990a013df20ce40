// Runs in: worker.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { encodeName, encodeNumber, readModule } from "../wasm/module-reader.js";

/**
 * Pages the engine begins with: 5.2 MiB of stack and data of its own, and room for a small plugin. The build asks for
 * 256; V8 counts a memory as used from its beginning, and would collect garbage every fourth call.
 */
export const leastPages = 112;

const importSection = 2;
let compiled: WebAssembly.Module | undefined;

/** QuickJS as it was built, but content with a memory of `leastPages`. Compiled once in each thread, in about 5 ms. */
export function quickjsModule(): WebAssembly.Module {
	compiled ??= new WebAssembly.Module(
		withSmallerMemory(readFileSync(createRequire(import.meta.url).resolve("@jitl/quickjs-wasmfile-release-sync/wasm"))),
	);
	return compiled;
}

/** Lowers the minimum of the one memory that the module imports. */
function withSmallerMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
	const reader = readModule(bytes, "QuickJS");
	const out: Uint8Array[] = [reader.bytes(8)];
	while (reader.left() > 0) {
		const id = reader.byte();
		const body = reader.bytes(reader.number());
		const written = id === importSection ? rewriteImports(body) : body;
		out.push(Uint8Array.of(id, ...encodeNumber(written.byteLength)), written);
	}
	return Uint8Array.from(Buffer.concat(out));
}

function rewriteImports(body: Uint8Array): Uint8Array {
	const reader = readModule(body, "QuickJS's imports");
	const count = reader.count();
	const out = encodeNumber(count);
	for (let index = 0; index < count; index += 1) {
		out.push(...encodeName(reader.name()), ...encodeName(reader.name()));
		const kind = reader.byte();
		if (kind === 0) out.push(kind, ...encodeNumber(reader.number()));
		else if (kind === 2 && reader.byte() === 1) {
			reader.number();
			out.push(kind, 1, ...encodeNumber(leastPages), ...encodeNumber(reader.number()));
		} else throw new Error("QuickJS was built in another way than this version knows");
	}
	return Uint8Array.from(out);
}
