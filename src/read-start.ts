import { createReadStream } from "node:fs";

/**
 * A file's first bytes, at most one past `maxBytes`: whoever reads them knows a file that is too large as such, and it is
 * never held. Pipes and devices can be read too.
 *
 * @throws the system's error
 */
export async function readStart(file: string, maxBytes: number): Promise<Buffer> {
	const chunks: Buffer[] = [];
	for await (const chunk of createReadStream(file, { end: maxBytes })) chunks.push(chunk);
	return Buffer.concat(chunks);
}
