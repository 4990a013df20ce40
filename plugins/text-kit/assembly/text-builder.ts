/** Grows a text without copying it at every step. */
export class TextBuilder {
  private units: StaticArray<u16>;
  private used: i32 = 0;

  constructor(capacity: i32) {
    this.units = new StaticArray<u16>(max(capacity, 16));
  }

  /** Adds one UTF-16 unit. */
  unit(value: u32): void {
    if (this.used == this.units.length) this.grow(1);
    unchecked((this.units[this.used++] = <u16>value));
  }

  /** Adds one code point. */
  point(value: u32): void {
    if (value < 0x10000) {
      this.unit(value);
      return;
    }
    this.unit(0xd800 + ((value - 0x10000) >> 10));
    this.unit(0xdc00 + ((value - 0x10000) & 0x3ff));
  }

  /** Adds a whole text. */
  text(value: string): void {
    const length = value.length;
    if (this.used + length > this.units.length) this.grow(length);
    memory.copy(changetype<usize>(this.units) + (<usize>this.used << 1), changetype<usize>(value), <usize>length << 1);
    this.used += length;
  }

  get length(): i32 {
    return this.used;
  }

  toString(): string {
    return String.UTF16.decodeUnsafe(changetype<usize>(this.units), <usize>this.used << 1);
  }

  private grow(more: i32): void {
    const wider = new StaticArray<u16>(max(this.units.length * 2, this.used + more));
    memory.copy(changetype<usize>(wider), changetype<usize>(this.units), <usize>this.used << 1);
    this.units = wider;
  }
}
