(module
  (func $deeper (param i64 i64 i64 i64) (result i64)
    (i64.add (local.get 0) (call $deeper (local.get 3) (local.get 2) (local.get 1) (local.get 0))))
  (func (export "mortise_call") (result i32)
    (drop (call $deeper (i64.const 1) (i64.const 2) (i64.const 3) (i64.const 4)))
    (i32.const 0)))
