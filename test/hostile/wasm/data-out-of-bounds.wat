(module
  (memory (export "memory") 1)
  (data (i32.const 65535) "more than fits")
  (func (export "mortise_call") (result i32) (i32.const 0)))
