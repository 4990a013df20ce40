/** The code point that begins at a unit; a surrogate without its other half stands for itself. */
export function pointAt(text: string, at: i32): u32 {
  const unit = <u32>text.charCodeAt(at);
  if (unit < 0xd800 || unit > 0xdbff || at + 1 >= text.length) return unit;
  const next = <u32>text.charCodeAt(at + 1);
  if (next < 0xdc00 || next > 0xdfff) return unit;
  return ((unit - 0xd800) << 10) + (next - 0xdc00) + 0x10000;
}

/** The code point that ends just before a unit. */
export function pointBefore(text: string, end: i32): u32 {
  const unit = <u32>text.charCodeAt(end - 1);
  if (unit < 0xdc00 || unit > 0xdfff || end < 2) return unit;
  const before = <u32>text.charCodeAt(end - 2);
  return before >= 0xd800 && before <= 0xdbff ? pointAt(text, end - 2) : unit;
}

/** How many units a code point takes. */
export function unitsOf(point: u32): i32 {
  return point < 0x10000 ? 1 : 2;
}

/** Whether a point lies in one of the ranges of a table of first and last. */
export function isIn(ranges: StaticArray<u32>, point: u32): bool {
  let low = 0;
  let high = ranges.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (point > unchecked(ranges[middle * 2 + 1])) low = middle + 1;
    else if (point < unchecked(ranges[middle * 2])) high = middle;
    else return true;
  }
  return false;
}

/** The row of a table of given width whose first column is the value; -1 when there is none. */
export function rowOf<T>(table: StaticArray<T>, width: i32, value: T): i32 {
  let low = 0;
  let high = table.length / width;
  while (low < high) {
    const middle = (low + high) >> 1;
    const first = unchecked(table[middle * width]);
    if (value > first) low = middle + 1;
    else if (value < first) high = middle;
    else return middle * width;
  }
  return -1;
}
