(module
  ;; Extism's own way to the network
  (import "extism:host/env" "http_request" (func $http_request (param i64 i64) (result i64)))
  (import "extism:host/env" "http_status_code" (func $http_status_code (result i32)))
  (import "extism:host/env" "http_headers" (func $http_headers (result i64)))
  ;; include prelude
  (func (export "get") (result i32)
    (local $body i64)
    (local.set $body (call $http_request (call $input_offset) (i64.const 0)))
    (if (i32.ne (call $http_status_code) (i32.const 200)) (then (unreachable)))
    (if (i64.eqz (call $length (call $http_headers))) (then (unreachable)))
    (call $output_set (local.get $body) (call $length (local.get $body)))
    (i32.const 0)))
