(module
  (memory (export "memory") 1024)
  (func (export "mortise_call") (result i32) (i32.const 0)))
