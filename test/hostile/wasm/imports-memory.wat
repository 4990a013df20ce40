(module (import "env" "memory" (memory 1)) (func (export "mortise_call") (result i32) (i32.const 0)))
