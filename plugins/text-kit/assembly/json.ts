import { TextBuilder } from "./text-builder";

export const enum Kind {
  Null,
  Boolean,
  Number,
  String,
  Array,
  Object,
}

const deepest = 64;

/** A JSON value. A number is kept as it was written, in `text`. */
export class Json {
  text: string = "";
  items: Json[] = [];
  keys: string[] = [];

  constructor(public kind: Kind) {}

  /** The member of an object; `null` when there is none. Of a repeated key the last one counts, as in JavaScript. */
  member(name: string): Json | null {
    for (let at = this.keys.length - 1; at >= 0; at--) if (this.keys[at] == name) return this.items[at];
    return null;
  }
}

/** Parses a JSON text (RFC 8259); `null` when it is not one, or is nested more than 64 deep. */
export function parseJson(source: string): Json | null {
  const parser = new Parser(source);
  const value = parser.value(0);
  if (value === null) return null;
  parser.space();
  return parser.at == source.length ? value : null;
}

/** Writes a JSON string. A surrogate without its other half is escaped, so that the text is always good UTF-8. */
export function quote(into: TextBuilder, value: string): void {
  into.unit(0x22);
  for (let at = 0; at < value.length; at++) {
    const unit = <u32>value.charCodeAt(at);
    if (unit == 0x22 || unit == 0x5c) {
      into.unit(0x5c);
      into.unit(unit);
    } else if (unit < 0x20) escape(into, unit);
    else if (unit >= 0xd800 && unit <= 0xdfff) {
      const next = at + 1 < value.length ? <u32>value.charCodeAt(at + 1) : 0;
      if (unit < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
        into.unit(unit);
        into.unit(next);
        at++;
      } else escape(into, unit);
    } else into.unit(unit);
  }
  into.unit(0x22);
}

function escape(into: TextBuilder, unit: u32): void {
  into.text("\\u");
  for (let shift = 12; shift >= 0; shift -= 4) {
    const digit = (unit >> shift) & 15;
    into.unit(digit < 10 ? 0x30 + digit : 0x57 + digit);
  }
}

class Parser {
  at: i32 = 0;

  constructor(private source: string) {}

  peek(): u32 {
    return this.at < this.source.length ? <u32>this.source.charCodeAt(this.at) : 0xffffffff;
  }

  take(unit: u32): bool {
    if (this.peek() != unit) return false;
    this.at++;
    return true;
  }

  space(): void {
    for (let unit = this.peek(); unit == 0x20 || unit == 0x0a || unit == 0x0d || unit == 0x09; unit = this.peek()) this.at++;
  }

  value(depth: i32): Json | null {
    if (depth > deepest) return null;
    this.space();
    const unit = this.peek();
    if (unit == 0x7b) return this.object(depth);
    if (unit == 0x5b) return this.array(depth);
    if (unit == 0x22) {
      const text = this.string();
      if (text === null) return null;
      const json = new Json(Kind.String);
      json.text = text;
      return json;
    }
    if (unit == 0x74) return this.word("true", Kind.Boolean);
    if (unit == 0x66) return this.word("false", Kind.Boolean);
    if (unit == 0x6e) return this.word("null", Kind.Null);
    return this.number();
  }

  object(depth: i32): Json | null {
    const json = new Json(Kind.Object);
    this.at++;
    this.space();
    if (this.take(0x7d)) return json;
    while (true) {
      this.space();
      const key = this.string();
      if (key === null) return null;
      this.space();
      if (!this.take(0x3a)) return null;
      const value = this.value(depth + 1);
      if (value === null) return null;
      json.keys.push(key);
      json.items.push(value);
      this.space();
      if (this.take(0x7d)) return json;
      if (!this.take(0x2c)) return null;
    }
  }

  array(depth: i32): Json | null {
    const json = new Json(Kind.Array);
    this.at++;
    this.space();
    if (this.take(0x5d)) return json;
    while (true) {
      const value = this.value(depth + 1);
      if (value === null) return null;
      json.items.push(value);
      this.space();
      if (this.take(0x5d)) return json;
      if (!this.take(0x2c)) return null;
    }
  }

  string(): string | null {
    if (!this.take(0x22)) return null;
    const start = this.at;
    while (this.at < this.source.length) {
      const unit = this.peek();
      if (unit == 0x22) return this.source.substring(start, this.at++);
      if (unit == 0x5c) break;
      if (unit < 0x20) return null;
      this.at++;
    }
    // an escape: from here on unit by unit
    const text = new TextBuilder(this.at - start + 64);
    text.text(this.source.substring(start, this.at));
    while (this.at < this.source.length) {
      const unit = <u32>this.source.charCodeAt(this.at++);
      if (unit == 0x22) return text.toString();
      if (unit < 0x20) return null;
      if (unit != 0x5c) {
        text.unit(unit);
        continue;
      }
      const escaped = this.escaped();
      if (escaped < 0) return null;
      text.unit(escaped);
    }
    return null;
  }

  escaped(): i32 {
    const unit = this.peek();
    this.at++;
    if (unit == 0x22 || unit == 0x5c || unit == 0x2f) return unit;
    if (unit == 0x62) return 0x08;
    if (unit == 0x66) return 0x0c;
    if (unit == 0x6e) return 0x0a;
    if (unit == 0x72) return 0x0d;
    if (unit == 0x74) return 0x09;
    if (unit != 0x75) return -1;
    let value: i32 = 0;
    for (let digits = 0; digits < 4; digits++) {
      const digit = this.peek();
      this.at++;
      if (digit >= 0x30 && digit <= 0x39) value = value * 16 + (digit - 0x30);
      else if ((digit | 0x20) >= 0x61 && (digit | 0x20) <= 0x66) value = value * 16 + ((digit | 0x20) - 0x57);
      else return -1;
    }
    return value;
  }

  word(word: string, kind: Kind): Json | null {
    if (this.source.substr(this.at, word.length) != word) return null;
    this.at += word.length;
    const json = new Json(kind);
    json.text = word;
    return json;
  }

  number(): Json | null {
    const start = this.at;
    this.take(0x2d);
    if (!this.take(0x30) && !this.digits()) return null;
    if (this.take(0x2e) && !this.digits()) return null;
    if (this.take(0x65) || this.take(0x45)) {
      if (!this.take(0x2b)) this.take(0x2d);
      if (!this.digits()) return null;
    }
    const json = new Json(Kind.Number);
    json.text = this.source.substring(start, this.at);
    return json;
  }

  digits(): bool {
    const start = this.at;
    for (let unit = this.peek(); unit >= 0x30 && unit <= 0x39; unit = this.peek()) this.at++;
    return this.at > start;
  }
}
