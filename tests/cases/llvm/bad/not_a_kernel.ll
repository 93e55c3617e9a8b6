; A normal function instead of a kernel.
; error: in function `parent`
; error: `child` is not a kernel
; error: ptx_kernel

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define void @child() {
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null)
  ret void
}
