(module
  ;; grows until it may not any more; answers only when that was at 16 pages or below
  ;; include prelude
  (func (export "mortise_call") (result i32)
    (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (if (i32.gt_u (memory.size) (i32.const 16)) (then (unreachable)))
    (if (i32.ne (memory.grow (i32.const 65535)) (i32.const -1)) (then (unreachable)))
    (call $done)))
