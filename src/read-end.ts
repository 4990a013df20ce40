import { constants } from "node:fs";
import { open } from "node:fs/promises";

/** A plain file's last bytes, at most `maxBytes`; a link is not followed. @throws the system's error */
export async function readEnd(file: string, maxBytes: number): Promise<Buffer> {
	const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
	try {
		const { size } = await handle.stat();
		const length = Math.min(size, maxBytes);
		const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, size - length);
		return buffer.subarray(0, bytesRead);
	} finally {
		await handle.close();
	}
}
