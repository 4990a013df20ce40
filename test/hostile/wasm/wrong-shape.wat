(module
  ;; include prelude
  (data (i32.const 1024) "{\"ok\":true,\"output\":{\"content\":\"text\"}}")
  (func (export "mortise_call") (result i32) (call $say (i32.const 1024) (i32.const 39)) (i32.const 0)))
