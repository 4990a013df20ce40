(module
  ;; each export hands its input to one host function and gives the answer back
  (import "extism:host/user" "mortise_kv" (func $kv (param i64) (result i64)))
  (import "extism:host/user" "mortise_now" (func $now (param i64) (result i64)))
  (import "extism:host/user" "mortise_random" (func $random (param i64) (result i64)))
  (import "extism:host/user" "mortise_log" (func $log (param i64) (result i64)))
  ;; include prelude
  (func $give (param $block i64) (result i32)
    (call $output_set (local.get $block) (call $length (local.get $block)))
    (i32.const 0))
  (func (export "kv") (result i32) (call $give (call $kv (call $input_offset))))
  (func (export "now") (result i32) (call $give (call $now (i64.const 0))))
  (func (export "random") (result i32) (call $give (call $random (call $input_offset))))
  (func (export "log") (result i32) (call $give (call $log (call $input_offset))))
  (func (export "kv_often") (result i32)
    (local $count i32) (local $last i64)
    (loop $again
      (local.set $last (call $kv (call $input_offset)))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $count) (i32.const 1005))))
    (call $give (local.get $last)))
  ;; works for itself without end, asking the host now and then
  (func (export "kv_and_work") (result i32)
    (local $count i32)
    (loop $always
      (local.set $count (i32.const 0))
      (loop $work
        (local.set $count (i32.add (local.get $count) (i32.const 1)))
        (br_if $work (i32.lt_u (local.get $count) (i32.const 3000000))))
      (drop (call $kv (call $input_offset)))
      (br $always))
    (unreachable))
  (func (export "spin") (result i32) (loop $forever (br $forever)) (unreachable)))
