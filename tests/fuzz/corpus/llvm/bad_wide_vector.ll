; A vector aligned to 32 as a direct parameter: ptxas would place it elsewhere than the parent.
; error: in function `parent`, argument 1 of
; error: aligned to 32
; error: byval

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @child(ptr %out, <8 x float> %v) {
  ret void
}

define ptx_kernel void @parent(ptr %out) {
  %error = call i32 (...) @cdp.launch(ptr @child, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null, ptr %out, <8 x float> zeroinitializer)
  ret void
}
