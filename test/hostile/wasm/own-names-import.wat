(module
  (import "mortise:wasi" "proc_exit" (func $exit (param i32)))
  (func (export "mortise_call") (result i32) (call $exit (i32.const 0)) (i32.const 0)))
