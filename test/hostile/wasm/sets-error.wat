(module
  (import "extism:host/env" "error_set" (func $error_set (param i64)))
  ;; include prelude
  (data (i32.const 1024) "no such city")
  ;; returns 0 all the same
  (func (export "mortise_call") (result i32)
    (call $error_set (call $block (i32.const 1024) (i32.const 12)))
    (call $done))
  (func (export "clears") (result i32)
    (call $error_set (call $block (i32.const 1024) (i32.const 12)))
    (call $error_set (i64.const 0))
    (call $done)))
