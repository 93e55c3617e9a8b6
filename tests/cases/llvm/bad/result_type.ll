; A launch whose result is no 32-bit integer.
; error: in function `parent`
; error: yields i64
; error: i32

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @child(ptr %out, float %scale) {
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i64 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, float 1.0)
  ret void
}
