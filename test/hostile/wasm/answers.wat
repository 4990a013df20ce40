(module
  ;; include prelude
  (func (export "mortise_call") (result i32) (call $done))
  (func (export "echo") (result i32)
    (call $output_set (call $input_offset) (call $input_length))
    (i32.const 0))
  (func (export "silent") (result i32) (i32.const 0))
  (func (export "empty") (result i32) (call $output_set (i64.const 0) (i64.const 0)) (i32.const 0))
  (func (export "no_result") (call $output_set (call $input_offset) (call $input_length)))
  (func (export "takes_something") (param i32) (result i32) (i32.const 0))
  (global (export "not_a_function") i32 (i32.const 0)))
