(module
  ;; gives its output back and makes another block of the same size
  (import "extism:host/env" "free" (func $free (param i64)))
  ;; include prelude
  (data (i32.const 1024) "goodSECRET")
  (func (export "freed") (result i32)
    (local $address i64)
    (local.set $address (call $block (i32.const 1024) (i32.const 4)))
    (call $output_set (local.get $address) (i64.const 4))
    (call $free (local.get $address))
    (drop (call $block (i32.const 1028) (i32.const 4)))
    (i32.const 0)))
