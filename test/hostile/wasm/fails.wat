(module
  ;; include prelude
  (data (i32.const 1024)
    "{\"ok\":false,\"failure\":{\"code\":\"rate_limited\",\"message\":\"slow down\",\"retryAfterMs\":50}}")
  (func (export "mortise_call") (result i32) (call $say (i32.const 1024) (i32.const 86)) (i32.const 0)))
