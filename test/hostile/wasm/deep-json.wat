(module
  ;; {"ok":true,"output":{"content":[],"structured":[[[[…
  ;; include prelude
  (data (i32.const 1024) "{\"ok\":true,\"output\":{\"content\":[],\"structured\":")
  (data (i32.const 2048) "}}")
  (func (export "mortise_call") (result i32)
    (local $address i64) (local $index i32)
    (local.set $address (call $alloc (i64.const 200049)))
    (loop $next
      (call $store_u8
        (i64.add (local.get $address) (i64.extend_i32_u (local.get $index)))
        (if (result i32) (i32.lt_u (local.get $index) (i32.const 47))
          (then (i32.load8_u (i32.add (i32.const 1024) (local.get $index))))
          (else (if (result i32) (i32.lt_u (local.get $index) (i32.const 100047))
            (then (i32.const 91))
            (else (if (result i32) (i32.lt_u (local.get $index) (i32.const 200047))
              (then (i32.const 93))
              (else (i32.const 125))))))))
      (local.set $index (i32.add (local.get $index) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $index) (i32.const 200049))))
    (call $output_set (local.get $address) (i64.const 200049))
    (i32.const 0)))
