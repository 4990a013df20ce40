import { pointAt, pointBefore, unitsOf } from "./points";
import { TextBuilder } from "./text-builder";

/** Reverses the code points of a text. */
export function reverse(text: string): string {
  const result = new TextBuilder(text.length);
  for (let end = text.length; end > 0; ) {
    const point = pointBefore(text, end);
    result.point(point);
    end -= unitsOf(point);
  }
  return result.toString();
}

/** What a text holds. */
export class Counts {
  characters: i32 = 0;
  words: i32 = 0;
  lines: i32 = 0;
  bytes: i32 = 0;
}

/** Counts code points, runs of what is not white space, lines and UTF-8 bytes (a half surrogate counts as U+FFFD). */
export function count(text: string): Counts {
  const counts = new Counts();
  let inWord = false;
  let inLine = false;
  for (let at = 0; at < text.length; ) {
    const point = pointAt(text, at);
    at += unitsOf(point);
    counts.characters++;
    counts.bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (isSpace(point)) inWord = false;
    else if (!inWord) {
      inWord = true;
      counts.words++;
    }
    if (!inLine) counts.lines++;
    inLine = !isLineEnd(point);
    // a carriage return and a line feed end one line together
    if (point == 0x0d && at < text.length && text.charCodeAt(at) == 0x0a) inLine = true;
  }
  return counts;
}

function isLineEnd(point: u32): bool {
  return point == 0x0a || point == 0x0d || point == 0x2028 || point == 0x2029;
}

/** White space as JavaScript's `\s` has it. */
function isSpace(point: u32): bool {
  if (point < 0x80) return point == 0x20 || (point >= 0x09 && point <= 0x0d);
  return (
    point == 0xa0 ||
    point == 0x1680 ||
    (point >= 0x2000 && point <= 0x200a) ||
    point == 0x2028 ||
    point == 0x2029 ||
    point == 0x202f ||
    point == 0x205f ||
    point == 0x3000 ||
    point == 0xfeff
  );
}
