(module
  ;; says that 4 bytes of a longer block are its output
  ;; include prelude
  (data (i32.const 1024) "goodSECRET")
  (func (export "shorter") (result i32)
    (call $output_set (call $block (i32.const 1024) (i32.const 10)) (i64.const 4))
    (i32.const 0)))
