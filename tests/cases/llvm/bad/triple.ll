; A module for another machine.
; error: x86_64-unknown-linux-gnu
; error: nvptx64-nvidia-cuda

target triple = "x86_64-unknown-linux-gnu"

declare i32 @cdp.launch(...)

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr null)
  ret void
}
