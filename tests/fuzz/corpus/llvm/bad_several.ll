; Every bad call is reported.
; error: in function `first`
; error: in function `second`
; error: 2 operands
; error: the kernel has 2 parameters, 0 are given

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @child(ptr %out, float %scale) {
  ret void
}

define ptx_kernel void @first(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1)
  ret void
}

define ptx_kernel void @second(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null)
  ret void
}
