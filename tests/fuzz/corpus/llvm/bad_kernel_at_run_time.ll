; A kernel that is known only at run time: its parameters are not.
; error: in function `parent`
; error: not a function

target triple = "nvptx64-nvidia-cuda"

declare i32 @cdp.launch(...)

define ptx_kernel void @parent(ptr %kernel) {
  %error = call i32 (...) @cdp.launch(ptr %kernel, i32 1, i32 1, i32 1, i32 1, i32 1, i32 1, i32 0, ptr null)
  ret void
}
