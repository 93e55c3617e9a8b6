; A launch without its configuration.
; error: in function `parent`
; error: takes a kernel, six dimensions, shared bytes and a stream
; error: 3 operands are given

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @child(ptr %out, float %scale) {
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1)
  ret void
}
