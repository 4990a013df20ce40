(module
  (import "extism:host/env" "log_info" (func $log_info (param i64)))
  (import "extism:host/user" "mortise_log" (func $mortise_log (param i64) (result i64)))
  (import "extism:host/env" "free" (func $free (param i64)))
  ;; include prelude
  (data (i32.const 1024) "{\"level\":\"info\",\"message\":\"again\"}")
  (func (export "mortise_call") (result i32)
    (local $line i64) (local $count i32)
    (local.set $line (call $alloc (i64.const 10000)))
    (loop $again
      (call $log_info (local.get $line))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $count) (i32.const 2000))))
    (local.set $count (i32.const 0))
    (local.set $line (call $block (i32.const 1024) (i32.const 34)))
    (loop $again
      (call $free (call $mortise_log (local.get $line)))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $count) (i32.const 2000))))
    (call $done)))
