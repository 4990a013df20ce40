(module
  ;; answers only when the start function and then the initialiser ran, once each and in that order
  ;; include prelude
  (global $ran (mut i32) (i32.const 0))
  (func $begin (global.set $ran (i32.add (i32.mul (global.get $ran) (i32.const 10)) (i32.const 1))))
  (start $begin)
  (func (export "_initialize") (global.set $ran (i32.add (i32.mul (global.get $ran) (i32.const 10)) (i32.const 2))))
  (func (export "mortise_call") (result i32)
    (if (i32.ne (global.get $ran) (i32.const 12)) (then (unreachable)))
    (call $done)))
