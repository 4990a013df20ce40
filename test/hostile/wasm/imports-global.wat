(module (import "env" "base" (global i32)) (func (export "mortise_call") (result i32) (i32.const 0)))
