; An argument of another type than the parameter.
; error: in function `parent`, argument 1 of
; error: has type double
; error: the kernel's parameter float

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @child(ptr %out, float %scale) {
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, double 1.0)
  ret void
}
