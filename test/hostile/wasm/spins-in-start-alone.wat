(module
  ;; no export section: the start function is all there is
  (func $spin (loop $forever (br $forever)))
  (start $spin))
