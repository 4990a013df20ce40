// Runs in: worker.

/** The memory blocks of one call, kept by the host and reached by address only. */
export type Blocks = {
	/** Makes a zeroed block and gives its address. */
	readonly allocate: (size: bigint) => bigint;
	/** Makes a block holding a copy of `bytes` and gives its address. */
	readonly store: (bytes: Uint8Array) => bigint;
	/** The block an address points into, or nothing. `place` is where in it. */
	readonly find: (address: bigint) => FoundBlock | undefined;
	/** Gives a block back; an address of none, or of one given back before, changes nothing. */
	readonly free: (address: bigint) => void;
	readonly loadByte: (address: bigint) => number;
	readonly loadWord: (address: bigint) => bigint;
	readonly storeByte: (address: bigint, value: number) => void;
	readonly storeWord: (address: bigint, value: bigint) => void;
};

export type FoundBlock = { readonly bytes: Uint8Array; readonly place: number };

/** What a table of blocks ends a call with. Each must throw. */
export type BlockFaults = {
	readonly badAddress: (operation: string) => never;
	readonly tooMuch: (what: string, max: number) => never;
};

type Block = { readonly bytes: Uint8Array; readonly view: DataView };

/** Blocks alive at once in one call. */
export const maxBlocks = 262_144;
/** What a block weighs besides its bytes, so that empty ones are bounded too. */
const blockOverheadBytes = 256;

// an address: 10 bits of generation, 20 of slot, and 32 for the place in the block, the sign bit clear
const slotBits = 20;
const slotMask = 2 ** slotBits - 1;
const generationMask = 0x3ff;

/**
 * Makes the table of blocks of one call. A freed slot is used again under a new generation, so that a stale address is
 * a bad one. All of them together hold at most `maxBytes`.
 */
export function createBlocks(maxBytes: number, faults: BlockFaults): Blocks {
	// slot 0 is never given out: address 0 means "none"
	const slots: (Block | undefined)[] = [undefined];
	const generations: number[] = [0];
	const freed: number[] = [];
	let total = 0;
	let alive = 0;
	const whole = new BigInt64Array(1);
	const halves = new Uint32Array(whole.buffer);
	let place = 0;

	/** Finds the block and leaves the place in `place`. */
	const locate = (address: bigint): Block | undefined => {
		whole[0] = address;
		place = halves[0] ?? 0;
		const key = halves[1] ?? 0;
		const slot = key & slotMask;
		return generations[slot] === key >>> slotBits ? slots[slot] : undefined;
	};
	const reach = (address: bigint, length: number, operation: string): Block => {
		const block = locate(address);
		if (block === undefined || place + length > block.bytes.byteLength) return faults.badAddress(operation);
		return block;
	};
	const add = (size: number, make: () => Uint8Array): bigint => {
		if (total + size + blockOverheadBytes > maxBytes) return faults.tooMuch("bytes of blocks", maxBytes);
		if (alive >= maxBlocks) return faults.tooMuch("blocks", maxBlocks);
		const bytes = make();
		const slot = freed.pop() ?? slots.length;
		slots[slot] = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) };
		const generation = generations[slot] ?? 0;
		generations[slot] = generation;
		total += size + blockOverheadBytes;
		alive += 1;
		halves[0] = 0;
		halves[1] = generation * 2 ** slotBits + slot;
		return whole[0] ?? 0n;
	};

	return {
		allocate: (size) => {
			// a negative size is a huge one: the guest's number has no sign
			const wanted = Number(BigInt.asUintN(64, size));
			return add(wanted, () => new Uint8Array(wanted));
		},
		store: (bytes) => add(bytes.byteLength, () => Uint8Array.from(bytes)),
		find: (address) => {
			const block = locate(address);
			return block === undefined || place > block.bytes.byteLength ? undefined : { bytes: block.bytes, place };
		},
		free: (address) => {
			const block = locate(address);
			if (block === undefined || place !== 0) return;
			const slot = (halves[1] ?? 0) & slotMask;
			slots[slot] = undefined;
			generations[slot] = ((generations[slot] ?? 0) + 1) & generationMask;
			freed.push(slot);
			total -= block.bytes.byteLength + blockOverheadBytes;
			alive -= 1;
		},
		loadByte: (address) => reach(address, 1, "load_u8").view.getUint8(place),
		loadWord: (address) => reach(address, 8, "load_u64").view.getBigUint64(place, true),
		storeByte: (address, value) => reach(address, 1, "store_u8").view.setUint8(place, value),
		storeWord: (address, value) => reach(address, 8, "store_u64").view.setBigUint64(place, value, true),
	};
}
