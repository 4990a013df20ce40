import { lowerPoint } from "./case";
import { isIn, pointAt, rowOf, unitsOf } from "./points";
import { latinLetters, wordRanges } from "./tables";
import { TextBuilder } from "./text-builder";

/**
 * Words joined by `-`: Latin letters lose their marks (`ß` becomes `ss`), letters, digits and marks of other scripts stay
 * in lower case, and everything else parts words.
 */
export function slug(text: string): string {
  const result = new TextBuilder(text.length);
  let parted = false;
  for (let at = 0; at < text.length; ) {
    const point = pointAt(text, at);
    at += unitsOf(point);
    // the combining marks of a decomposed Latin letter, and the apostrophes inside words
    if ((point >= 0x300 && point <= 0x36f) || point == 0x27 || point == 0x2019) continue;
    if (!isIn(wordRanges, point)) {
      parted = true;
      continue;
    }
    if (parted && result.length > 0) result.unit(0x2d);
    parted = false;
    const row = rowOf<u32>(latinLetters, 2, point);
    if (row < 0) result.point(lowerPoint(point));
    else for (let letters = unchecked(latinLetters[row + 1]); letters != 0; letters >>= 8) result.unit(letters & 0xff);
  }
  return result.toString();
}
