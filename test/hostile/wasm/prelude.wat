  ;; inserted where a module says `;; include prelude`: what most modules here need to give an answer
  (import "extism:host/env" "alloc" (func $alloc (param i64) (result i64)))
  (import "extism:host/env" "length" (func $length (param i64) (result i64)))
  (import "extism:host/env" "store_u8" (func $store_u8 (param i64 i32)))
  (import "extism:host/env" "output_set" (func $output_set (param i64 i64)))
  (import "extism:host/env" "input_offset" (func $input_offset (result i64)))
  (import "extism:host/env" "input_length" (func $input_length (result i64)))
  (memory (export "memory") 1)
  (data (i32.const 0) "{\"ok\":true,\"output\":{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}}")
  ;; copies bytes of linear memory into a new block
  (func $block (param $at i32) (param $size i32) (result i64)
    (local $address i64) (local $index i32)
    (local.set $address (call $alloc (i64.extend_i32_u (local.get $size))))
    (block $end
      (loop $next
        (br_if $end (i32.ge_u (local.get $index) (local.get $size)))
        (call $store_u8
          (i64.add (local.get $address) (i64.extend_i32_u (local.get $index)))
          (i32.load8_u (i32.add (local.get $at) (local.get $index))))
        (local.set $index (i32.add (local.get $index) (i32.const 1)))
        (br $next)))
    (local.get $address))
  (func $say (param $at i32) (param $size i32)
    (call $output_set (call $block (local.get $at) (local.get $size)) (i64.extend_i32_u (local.get $size))))
  ;; answers a tool call with the text "done"
  (func $done (result i32)
    (call $say (i32.const 0) (i32.const 64))
    (i32.const 0))
