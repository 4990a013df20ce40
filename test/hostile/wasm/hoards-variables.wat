(module
  (import "extism:host/env" "var_set" (func $var_set (param i64 i64)))
  (import "extism:host/env" "var_get" (func $var_get (param i64) (result i64)))
  (import "extism:host/env" "store_u64" (func $store_u64 (param i64 i64)))
  ;; include prelude
  ;; one variable a name, without end
  (func (export "mortise_call") (result i32)
    (local $name i64) (local $value i64) (local $count i64)
    (local.set $name (call $alloc (i64.const 8)))
    (local.set $value (call $alloc (i64.const 1000)))
    (loop $again
      (local.set $count (i64.add (local.get $count) (i64.const 1)))
      (call $store_u64 (local.get $name) (local.get $count))
      (call $var_set (local.get $name) (local.get $value))
      (br $again))
    (unreachable))
  ;; one name, set, read back, replaced many times, deleted
  (func (export "replaces") (result i32)
    (local $name i64) (local $value i64) (local $count i32)
    (local.set $name (call $alloc (i64.const 8)))
    (local.set $value (call $alloc (i64.const 100000)))
    (loop $again
      (call $var_set (local.get $name) (local.get $value))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $count) (i32.const 100))))
    (if (i64.ne (call $length (call $var_get (local.get $name))) (i64.const 100000)) (then (unreachable)))
    (call $var_set (local.get $name) (i64.const 0))
    (if (i64.ne (call $var_get (local.get $name)) (i64.const 0)) (then (unreachable)))
    (call $done))
  ;; fails when a call before it left a variable behind
  (func (export "remembers") (result i32)
    (local $name i64)
    (local.set $name (call $alloc (i64.const 1)))
    (if (i64.ne (call $var_get (local.get $name)) (i64.const 0)) (then (unreachable)))
    (call $var_set (local.get $name) (local.get $name))
    (call $done)))
