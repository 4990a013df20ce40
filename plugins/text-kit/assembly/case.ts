import { isIn, pointAt, pointBefore, rowOf, unitsOf } from "./points";
import { casedRanges, ignorableRanges, lowerRanges, upperRanges, upperSpecial } from "./tables";
import { TextBuilder } from "./text-builder";

// AssemblyScript's own toUpperCase and toLowerCase know an older Unicode and look at the neighbours of a sigma only
// so far; these follow the standard's full mappings (SpecialCasing.txt, without the parts for single languages).

/** Upper case: one code point may become up to three. */
export function upper(text: string): string {
  const result = new TextBuilder(text.length);
  for (let at = 0; at < text.length; ) {
    const point = pointAt(text, at);
    at += unitsOf(point);
    const row = point > 0x7f && point < 0x10000 ? rowOf<u16>(upperSpecial, 4, <u16>point) : -1;
    if (row < 0) {
      result.point(mapped(upperRanges, point));
      continue;
    }
    result.unit(unchecked(upperSpecial[row + 1]));
    result.unit(unchecked(upperSpecial[row + 2]));
    if (unchecked(upperSpecial[row + 3]) != 0) result.unit(unchecked(upperSpecial[row + 3]));
  }
  return result.toString();
}

/** Lower case: a capital sigma at the end of a word becomes the final form; a dotted capital I becomes two points. */
export function lower(text: string): string {
  const result = new TextBuilder(text.length);
  for (let at = 0; at < text.length; ) {
    const point = pointAt(text, at);
    const end = at + unitsOf(point);
    if (point == 0x3a3) result.unit(isFinalSigma(text, at, end) ? 0x3c2 : 0x3c3);
    else if (point == 0x130) {
      result.unit(0x69);
      result.unit(0x307);
    } else result.point(mapped(lowerRanges, point));
    at = end;
  }
  return result.toString();
}

/** The lower case of a code point by itself. */
export function lowerPoint(point: u32): u32 {
  return mapped(lowerRanges, point);
}

function mapped(ranges: StaticArray<i32>, point: u32): u32 {
  const value = <i32>point;
  let low = 0;
  let high = ranges.length >> 2;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = middle << 2;
    const first = unchecked(ranges[row]);
    if (value > unchecked(ranges[row + 1])) low = middle + 1;
    else if (value < first) high = middle;
    else return (value - first) % unchecked(ranges[row + 2]) == 0 ? <u32>(value + unchecked(ranges[row + 3])) : point;
  }
  return point;
}

// a cased letter before, none after, with whatever case ignores in between (Unicode, table 3-17)
function isFinalSigma(text: string, start: i32, end: i32): bool {
  let before = start;
  while (before > 0) {
    const point = pointBefore(text, before);
    if (!isIn(ignorableRanges, point)) {
      if (!isIn(casedRanges, point)) return false;
      break;
    }
    before -= unitsOf(point);
  }
  if (before == 0) return false;
  for (let after = end; after < text.length; ) {
    const point = pointAt(text, after);
    if (!isIn(ignorableRanges, point)) return !isIn(casedRanges, point);
    after += unitsOf(point);
  }
  return true;
}
