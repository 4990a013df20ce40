import { Json, parseJson, quote } from "./json";
import { TextBuilder } from "./text-builder";

// The guest's side of Mortise's door over Extism's memory: the envelope is the input block, the answer the output block.

// @ts-ignore: decorator
@external("extism:host/env", "input_length")
declare function inputLength(): u64;
// @ts-ignore: decorator
@external("extism:host/env", "input_load_u8")
declare function inputLoadByte(at: u64): u32;
// @ts-ignore: decorator
@external("extism:host/env", "input_load_u64")
declare function inputLoadEight(at: u64): u64;
// @ts-ignore: decorator
@external("extism:host/env", "alloc")
declare function allocate(length: u64): u64;
// @ts-ignore: decorator
@external("extism:host/env", "store_u8")
declare function storeByte(at: u64, value: u32): void;
// @ts-ignore: decorator
@external("extism:host/env", "store_u64")
declare function storeEight(at: u64, value: u64): void;
// @ts-ignore: decorator
@external("extism:host/env", "output_set")
declare function setOutput(at: u64, length: u64): void;

/** The envelope of this call, parsed; `null` when the input is not JSON. */
export function readEnvelope(): Json | null {
  const length = <usize>inputLength();
  const bytes = new ArrayBuffer(<i32>length);
  const start = changetype<usize>(bytes);
  let at: usize = 0;
  for (; at + 8 <= length; at += 8) store<u64>(start + at, inputLoadEight(at));
  for (; at < length; at++) store<u8>(start + at, <u8>inputLoadByte(at));
  return parseJson(String.UTF8.decodeUnsafe(start, length));
}

/** Answers with an output, given as JSON text. */
export function answer(output: string): void {
  const whole = new TextBuilder(output.length + 32);
  whole.text('{"ok":true,"output":');
  whole.text(output);
  whole.text("}");
  write(whole.toString());
}

/** Answers with a failure of the contract. */
export function fail(code: string, message: string): void {
  const whole = new TextBuilder(message.length + 80);
  whole.text('{"ok":false,"failure":{"code":');
  quote(whole, code);
  whole.text(',"message":');
  quote(whole, message);
  whole.text("}}");
  write(whole.toString());
}

function write(value: string): void {
  const bytes = String.UTF8.encode(value);
  const length = <usize>bytes.byteLength;
  const start = changetype<usize>(bytes);
  const block = allocate(length);
  let at: usize = 0;
  for (; at + 8 <= length; at += 8) storeEight(block + at, load<u64>(start + at));
  for (; at < length; at++) storeByte(block + at, load<u8>(start + at));
  setOutput(block, length);
}
