(module
  ;; catches what the host throws and answers as if nothing had been
  ;; include prelude
  (func (export "mortise_call") (result i32)
    (try (do (drop (call $alloc (i64.const -1)))) (catch_all))
    (call $done)))
