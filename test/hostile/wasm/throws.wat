(module
  (tag $oops)
  (func (export "mortise_call") (result i32) (throw $oops)))
