import { lower, upper } from "./case";
import { answer, fail, readEnvelope } from "./door";
import { Json, Kind, quote } from "./json";
import { count, reverse } from "./measure";
import { slug } from "./slug";
import { TextBuilder } from "./text-builder";

/** The door: one envelope in, one answer out. */
export function mortise_call(): i32 {
  const envelope = readEnvelope();
  if (envelope === null) fail("invalid_input", "the input is not a JSON text");
  else handle(envelope);
  return 0;
}

function handle(envelope: Json): void {
  const version = envelope.member("v");
  const op = envelope.member("op");
  const input = envelope.member("input");
  if (version === null || version.kind != Kind.Number || version.text != "1" || op === null || op.kind != Kind.String) {
    fail("invalid_input", "the input is not an envelope of version 1");
    return;
  }
  if (op.text != "tool.call") {
    fail("unknown_op", "this plugin has the operation tool.call only");
    return;
  }
  const name = memberOf(input, "name");
  const given = memberOf(input, "arguments");
  if (name === null || name.kind != Kind.String) {
    fail("invalid_input", "name must be a string");
    return;
  }
  if (!isTool(name.text)) {
    fail("not_found", "this plugin has no such tool");
    return;
  }
  const text = memberOf(given, "text");
  if (text === null || text.kind != Kind.String) {
    fail("invalid_input", "arguments.text must be a string");
    return;
  }
  if (given !== null && given.keys.length > 1) {
    fail("invalid_input", "arguments has a member other than text");
    return;
  }
  call(name.text, text.text);
}

function memberOf(json: Json | null, name: string): Json | null {
  if (json === null) return null;
  return json.member(name);
}

function isTool(name: string): bool {
  return (
    name == "text_upper" || name == "text_lower" || name == "text_reverse" || name == "text_count" || name == "text_slug"
  );
}

function call(name: string, text: string): void {
  if (name == "text_upper") answerText(upper(text));
  else if (name == "text_lower") answerText(lower(text));
  else if (name == "text_reverse") answerText(reverse(text));
  else if (name == "text_slug") answerText(slug(text));
  else answerCounts(text);
}

function answerText(text: string): void {
  const output = new TextBuilder(text.length + 64);
  output.text('{"content":[{"type":"text","text":');
  quote(output, text);
  output.text("}]}");
  answer(output.toString());
}

function answerCounts(text: string): void {
  const counts = count(text);
  const structured = new TextBuilder(96);
  structured.text('{"characters":' + counts.characters.toString());
  structured.text(',"words":' + counts.words.toString());
  structured.text(',"lines":' + counts.lines.toString());
  structured.text(',"bytes":' + counts.bytes.toString() + "}");
  const output = new TextBuilder(320);
  output.text('{"content":[{"type":"text","text":');
  quote(
    output,
    counts.characters.toString() +
      " characters, " +
      counts.words.toString() +
      " words, " +
      counts.lines.toString() +
      " lines, " +
      counts.bytes.toString() +
      " bytes",
  );
  output.text('}],"structured":');
  output.text(structured.toString());
  output.text("}");
  answer(output.toString());
}
