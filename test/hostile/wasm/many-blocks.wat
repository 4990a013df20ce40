(module
  (import "extism:host/env" "free" (func $free (param i64)))
  ;; include prelude
  ;; 40,000 blocks alive at once: more than an index of 15 bits names
  (func (export "mortise_call") (result i32)
    (local $count i32)
    (loop $again
      (drop (call $alloc (i64.const 1)))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $count) (i32.const 40000))))
    (call $done))
  ;; 200,000 blocks, given back one after the other
  (func (export "reuses") (result i32)
    (local $count i32)
    (loop $again
      (call $free (call $alloc (i64.const 1000)))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $count) (i32.const 200000))))
    (call $done))
  ;; empty blocks without end
  (func (export "hoards") (result i32)
    (loop $again (drop (call $alloc (i64.const 0))) (br $again))
    (unreachable)))
