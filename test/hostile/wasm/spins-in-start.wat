(module
  ;; include prelude
  (func $spin (loop $forever (br $forever)))
  (start $spin)
  (func (export "mortise_call") (result i32) (call $done)))
