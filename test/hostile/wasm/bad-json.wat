(module
  ;; include prelude
  (data (i32.const 1024) "{\"ok\":tr")
  (data (i32.const 2048) "\"\ff\fe\"")
  (func (export "mortise_call") (result i32) (call $say (i32.const 1024) (i32.const 8)) (i32.const 0))
  (func (export "not_utf8") (result i32) (call $say (i32.const 2048) (i32.const 4)) (i32.const 0)))
