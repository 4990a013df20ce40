(module
  ;; answers a tool call with its own envelope, as structured output
  (import "extism:host/env" "input_load_u8" (func $input_load_u8 (param i64) (result i32)))
  ;; include prelude
  (data (i32.const 1024) "{\"ok\":true,\"output\":{\"content\":[],\"structured\":")
  (data (i32.const 2048) "}}")
  (func (export "mortise_call") (result i32)
    (local $size i32) (local $index i32)
    (local.set $size (i32.wrap_i64 (call $input_length)))
    ;; 47 bytes, the input, 2 bytes, put together at 4096
    (memory.copy (i32.const 4096) (i32.const 1024) (i32.const 47))
    (loop $next
      (i32.store8
        (i32.add (i32.const 4143) (local.get $index))
        (call $input_load_u8 (i64.extend_i32_u (local.get $index))))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $index) (local.get $size))))
    (memory.copy (i32.add (i32.const 4143) (local.get $size)) (i32.const 2048) (i32.const 2))
    (call $say (i32.const 4096) (i32.add (local.get $size) (i32.const 49)))
    (i32.const 0)))
